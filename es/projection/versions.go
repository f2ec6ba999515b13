package projection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Versioned is a [Handler] with a version. Another version makes different rows from the same events, so the existing
// rows have to be rebuilt. A handler that is not Versioned has version 1.
type Versioned interface {
	Handler
	RowsVersion() int
}

// versionsOf returns the versions of handlers as text.
func versionsOf(handlers []Handler) string {
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

// Outdated returns the types whose rows were made by another version of their handler than this program's. It stores
// the versions of new types: a projector applies their events without a rebuild.
func Outdated(ctx context.Context, sets RowSets, handlers []Handler) ([]string, error) {
	text, err := sets.Handlers(ctx)
	if err != nil {
		return nil, err
	}
	made, now := versionsIn(text), versionsIn(versionsOf(handlers))
	var outdated []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if before, known := made[name]; !known {
			made[name] = now[name]
		} else if before != now[name] {
			outdated = append(outdated, name)
		}
	}
	var told []string
	for _, name := range slices.Sorted(maps.Keys(made)) { // also of types that only another program knows
		told = append(told, name+"="+made[name])
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
