package es

import (
	"testing"
	"time"
)

// A repeat may arrive after an upgrade of the program, so the values by which a request is recognised must never
// change.
func TestRequestsAreRecognisedByAllVersions(t *testing.T) {
	tenant, err := ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	r := Request[int]{
		Caller: Caller{Tenant: tenant, Executor: "01H42KBHCWA0000000000000AD"}, ID: "01H42K4ABWQ5V2XQEP3A48VE0Z",
		Name: "thread.PostMessage", Content: `{"text":"hello"}`, IdempotencyKey: "key",
	}
	// The first version of the program used the name of the command's type and made the same id.
	if got, want := r.commandID(time.Now()), "18HDNX7G5MWS9WY7FRT32NG2GP"; got != want {
		t.Errorf("command id %s, want %s", got, want)
	}
	if got, want := r.fingerprint(), "917c4930acd43ac0f326f10412a222f03282bafe19743b86b46000336888c0b0"; got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
	other := r
	other.Content = `{"text":"hell"}`
	if other.isRepeatOf(Receipt{Fingerprint: r.fingerprint()}) {
		t.Error("another content has the same fingerprint")
	}
	// Content that is encoded differently since a setting was changed must still match earlier receipts.
	digested := r
	digested.FormerContent, digested.Content = r.Content, "digest"
	for _, receipt := range []Receipt{{Fingerprint: r.fingerprint()}, {Fingerprint: digested.fingerprint()}} {
		if !digested.isRepeatOf(receipt) {
			t.Error("a request does not match itself")
		}
	}
	if r.fingerprint() == digested.fingerprint() || digested.isRepeatOf(Receipt{Fingerprint: other.fingerprint()}) {
		t.Error("another request matches")
	}
	// A repeated creation has another id.
	begins, again := r, r
	begins.Begins, again.Begins, again.ID = true, true, "01H42K4ABWQ5V2XQEP3A48VE00"
	if begins.fingerprint() != again.fingerprint() || begins.fingerprint() == r.fingerprint() {
		t.Error("the id of a new aggregate is part of the fingerprint")
	}
}
