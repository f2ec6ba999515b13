package projection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Versioned is a [Handler] that says which version of it makes the rows. Another version makes other rows of the same
// events: those that are there have to be made anew. A handler that says nothing is version 1.
type Versioned interface {
	Handler
	RowsVersion() int
}

// VersionsOf are the versions of handlers as text.
func VersionsOf(handlers []Handler) string {
	versions := make([]string, len(handlers))
	for i, handler := range handlers {
		version := 1
		if versioned, says := handler.(Versioned); says {
			version = versioned.RowsVersion()
		}
		versions[i] = fmt.Sprintf("%s=%d", handler.Type(), version)
	}
	slices.Sort(versions)
	return strings.Join(versions, ",")
}

// Outdated tells which types' rows were made by another version of their handler than this program's; empty: none were.
// The versions of types that are new are stored: a projector gets their events into the rows by itself.
func Outdated(ctx context.Context, sets RowSets, store Store, handlers []Handler) ([]string, error) {
	text, err := sets.Handlers(ctx)
	if err != nil {
		return nil, err
	}
	made := versionsIn(text)
	if text == "" {
		// Rows that are there were made before anybody told versions.
		types, err := store.Types(ctx)
		if err != nil {
			return nil, err
		}
		for _, known := range types {
			made[known.Name] = "1"
		}
	}
	now := versionsIn(VersionsOf(handlers))
	var outdated []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if before, known := made[name]; !known {
			made[name] = now[name]
		} else if before != now[name] {
			outdated = append(outdated, name)
		}
	}
	var told []string
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if _, registered := now[name]; registered {
			told = append(told, name+"="+made[name])
		}
	}
	if now := strings.Join(told, ","); now != text {
		err = sets.SaveHandlers(ctx, now)
	}
	return outdated, err
}

func versionsIn(text string) map[string]string {
	found := make(map[string]string)
	for _, part := range strings.Split(text, ",") {
		if name, version, is := strings.Cut(part, "="); is {
			found[name] = version
		}
	}
	return found
}
