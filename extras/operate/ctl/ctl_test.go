package ctl

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// docs/operations.md skips without --by, and in a container USER is not set.
func TestWhoSkips(t *testing.T) {
	nobody := func(string) string { return "" }
	if by := (&skipLetter{}).who(nobody); by == "" {
		t.Error("without USER nobody skips")
	}
	ada := func(name string) string { return map[string]string{"USER": "ada"}[name] }
	if by := (&skipLetter{}).who(ada); by != "ada" {
		t.Errorf("%q skips", by)
	}
}

func TestProgressIsShownNowAndThen(t *testing.T) {
	var out bytes.Buffer
	p := &progressLine{out: &out}
	p.tell("%d of %d", 1, 9)
	p.tell("%d of %d", 2, 9)
	p.next = time.Time{}
	p.tell("%d of %d", 3, 9)
	p.clear()
	if got := strings.ReplaceAll(out.String(), "\r\x1b[K", "|"); got != "|1 of 9|3 of 9|" {
		t.Errorf("%q", got)
	}
}
