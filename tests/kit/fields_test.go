package kit_test

import (
	"strings"
	"testing"

	"example.com/threads/tests/kit"
)

// told records what a test reports.
type told struct {
	testing.TB
	errors []string
}

func (*told) Helper() {}

func (r *told) Errorf(format string, args ...any) {
	for _, arg := range args {
		format += " " + arg.(string)
	}
	r.errors = append(r.errors, format)
}

type inner struct{ set, unset bool }

type outer struct {
	Name  string
	Parts []inner
	other map[string]*inner
}

func TestEveryFieldNamesWhatIsNeverSet(t *testing.T) {
	found := &told{}
	kit.EveryField(found, "outer", outer{Parts: []inner{{}}}, outer{other: map[string]*inner{"a": {set: true}}})
	if all := strings.Join(found.errors, "\n"); len(found.errors) != 2 || !strings.Contains(all, "outer.Name") || !strings.Contains(all, "inner.unset") {
		t.Errorf("told %q", found.errors)
	}
	found = &told{}
	kit.EveryField(found, "outer", outer{Name: "a", Parts: []inner{{set: true}}}, outer{other: map[string]*inner{"a": {unset: true}}})
	if len(found.errors) > 0 {
		t.Errorf("told %q", found.errors)
	}
}
