package ident_test

import (
	"testing"

	"example.com/threads/domain/ident"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav", "01890535-c59c-72d5-08a8-dcea316374c8", "", "null"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ident.Parse[struct{}](text)
		if canonical, ok := ident.Canonical(text); canonical != id.String() || (ok == nil) != (err == nil) {
			t.Errorf("%q is %q, %v in its current form", text, canonical, ok)
		}
		if (err == nil) == id.IsZero() {
			t.Fatalf("%q is %q, %v", text, id, err)
		}
		if err != nil {
			return
		}
		if again, err := ident.Parse[struct{}](id.String()); err != nil || again != id {
			t.Errorf("%q is %s, and that is %s, %v", text, id, again, err)
		}
	})
}
