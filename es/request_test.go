package es

import (
	"testing"
	"time"
)

// A repeat may arrive after an upgrade of the program, so the values by which a request is recognised must never
// change.
func TestRequestsAreRecognisedByAllVersions(t *testing.T) {
	r := Request[int]{
		Caller: Caller{Tenant: "acme", Executor: "01H42KBHCWA0000000000000AD"}, ID: "01H42K4ABWQ5V2XQEP3A48VE0Z",
		Name: "notebook.WriteNote", Content: `{"text":"hello"}`, IdempotencyKey: "key",
	}
	// These values were made by the first version.
	if got, want := r.commandID(time.Now()), "759EPT0RQZ0D0D1XRDS9656VKD"; got != want {
		t.Errorf("command id %s, want %s", got, want)
	}
	if got, want := r.fingerprint(r.Content), "455e52cc5acd344d2b6f2d6defa29551b69000e7c7cbd70128d636606655aeed"; got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
	other := r
	other.Content = `{"text":"hell"}`
	if other.isRepeatOf(Receipt{Fingerprint: r.fingerprint(r.Content)}) {
		t.Error("another content has the same fingerprint")
	}
	// Content that is encoded differently since a setting was changed must still match earlier receipts.
	digested := r
	digested.FormerContent, digested.Content = r.Content, "digest"
	for _, receipt := range []Receipt{{Fingerprint: r.fingerprint(r.Content)}, {Fingerprint: digested.fingerprint(digested.Content)}} {
		if !digested.isRepeatOf(receipt) {
			t.Error("a request does not match itself")
		}
	}
	if r.fingerprint(r.Content) == digested.fingerprint(digested.Content) || digested.isRepeatOf(Receipt{Fingerprint: other.fingerprint(other.Content)}) {
		t.Error("another request matches")
	}
	// A repeated creation has another id.
	begins, again := r, r
	begins.Begins, again.Begins, again.ID = true, true, "01H42K4ABWQ5V2XQEP3A48VE00"
	if begins.fingerprint(begins.Content) != again.fingerprint(again.Content) || begins.fingerprint(begins.Content) == r.fingerprint(r.Content) {
		t.Error("the id of a new aggregate is part of the fingerprint")
	}
}

func TestAKeyNeedsContent(t *testing.T) {
	r := Request[int]{Name: "Move", IdempotencyKey: "key"}
	if err := r.check(); err == nil {
		t.Error("a repeat could not be told from another request")
	}
	r.Content = "1"
	if err := r.check(); err != nil {
		t.Error(err)
	}
}

// Such an answer could not be read from its receipt.
func TestNamesThatAnAnswerCanNotHave(t *testing.T) {
	for _, name := range []string{"version", "shelf_id"} {
		result := Result{Key: AggregateID{Type: "shelf", ID: "01H42K4ABWQ5V2XQEP3A48VE0Z"}, Version: 1, About: map[string]string{name: "x"}}
		if _, err := (Request[int]{}).receipt("COMMAND", result, time.Now()); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
