package ctl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/infrastructure/config"
)

// docs/operations.md skips without --by, and in a container USER is not set.
func TestWhoSkips(t *testing.T) {
	for user, want := range map[string]string{"ada": "ada", "": fmt.Sprintf("user %d", os.Getuid())} {
		var out bytes.Buffer
		getenv := func(name string) string { return map[string]string{"USER": user}[name] }
		none := func(*config.Reader) Settings { return Settings{} }
		if err := Run(t.Context(), none, []string{"dead-letters", "skip", "--help"}, getenv, &out, io.Discard); err != nil || !strings.Contains(out.String(), want+" unless set") {
			t.Errorf("%v, USER=%q:\n%s", err, user, out.String())
		}
	}
}

// A tenant that can't be there is refused; it would select nothing, and all would seem well.
func TestATenantIsChecked(t *testing.T) {
	none := func(*config.Reader) Settings { return Settings{} }
	for _, words := range []string{
		"journal check", "snapshots due", "rows verify",
		"journal archive --before 2026-01-01", // extra:archive
	} {
		err := Run(t.Context(), none, append(strings.Fields(words), "--tenant", "Acme"), func(string) string { return "" }, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "tenant must be") {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// What is damaged must be shown, too, and must not control the terminal.
func TestResultsAreYAMLUnlessItCanNotShowThem(t *testing.T) {
	for event, want := range map[string]string{
		`{"text":"tea"}`:            "event:\n  text: tea\n",
		`{"text":"\u001b[2J"}`:      "{\n  \"event\": {\n    \"text\": \"\\u001b[2J\"\n  }\n}\n",
		`{"text":"tea","text":"x"}`: "{\n  \"event\": {\n    \"text\": \"tea\",\n    \"text\": \"x\"\n  }\n}\n",
	} {
		var out bytes.Buffer
		c := &call{stdout: &out}
		if err := c.print(true, map[string]any{"event": json.RawMessage(event)}); err != nil || out.String() != want {
			t.Errorf("%s: %v and:\n%s", event, err, out.String())
		}
	}
}

func TestProgressIsShownNowAndThen(t *testing.T) {
	var out bytes.Buffer
	c := &call{terminal: &out}
	c.tell("%d of %d", 1, 9)
	c.tell("%d of %d", 2, 9)
	c.next = time.Time{}
	c.tell("%d of %d", 3, 9)
	c.clear()
	if got := strings.ReplaceAll(out.String(), "\r\x1b[K", "|"); got != "|1 of 9|3 of 9|" {
		t.Errorf("%q", got)
	}
}

// Rows that are behind, and whether they catch up, is looked at for so many aggregates only: the others are not well.
func TestWhatIsNotLookedAtAgainIsCounted(t *testing.T) {
	v := verify{c: &call{}}
	for range maxBehind + 2 {
		if err := v.count(es.AggregateID{}, projection.Verified{Behind: true}); err != nil {
			t.Fatal(err)
		}
	}
	if len(v.behind) != maxBehind || v.unchecked != 2 {
		t.Errorf("%d are looked at again, %d are not", len(v.behind), v.unchecked)
	}
}
