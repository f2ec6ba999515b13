package admission_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/admission"
)

func id(t *testing.T, text string) ident.UserID {
	t.Helper()
	parsed, err := ident.Parse[ident.UserAccount](text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestWhoAPrincipalActsFor(t *testing.T) {
	ada, bob := id(t, "01ARZ3NDEKTSV4RRFFQ69G5FAV"), id(t, "01BX5ZZKBKACTAV9WEVGEMMVRZ")
	for about, c := range map[string]struct {
		principal   admission.Principal
		named, want ident.UserID
		refused     bool
	}{
		"unknown":                   {admission.Principal{}, bob, bob, false},
		"nobody named":              {admission.Principal{Account: ada}, ident.UserID{}, ada, false},
		"itself":                    {admission.Principal{Account: ada}, ada, ada, false},
		"another one":               {admission.Principal{Account: ada}, bob, bob, true},
		"another one, and it may":   {admission.Principal{Account: ada, ActsForOthers: true}, bob, bob, false},
		"unknown, and nobody named": {admission.Principal{}, ident.UserID{}, ident.UserID{}, false},
	} {
		got, err := c.principal.For(c.named)
		if refused := errors.As(err, new(*admission.Refusal)); got != c.want || refused != c.refused {
			t.Errorf("%s: %s, %v", about, got, err)
		}
	}
	reader := admission.Principal{Account: ada, Rights: []admission.Right{admission.Read}}
	if !reader.May(admission.Write, admission.Read) || reader.May(admission.Write) || reader.IsOperator() {
		t.Error("a right has another effect than its own")
	}
	if anybody := (admission.Principal{}); !anybody.May(admission.Operate) || anybody.IsOperator() || !anybody.NamesAnyone() {
		t.Error("somebody unknown may not do everything, or is taken for an operator")
	}
}

func TestWithoutAGuardEverybodyIsAdmitted(t *testing.T) {
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
	request.RemoteAddr = "[::ffff:192.0.2.1]:5000"
	who, err := admission.Enter(request, admission.Ask{Rights: []admission.Right{admission.Operate}, Tenant: "acme"})
	if err != nil || who.IsKnown() || who.Tenant != "acme" || who.ClientIP() != "192.0.2.1" {
		t.Errorf("%+v, %v", who, err)
	}
	guard := admission.Of(request) // extra:access|operate|tenants|websocket {
	staying, leave := guard.Stay(t.Context())
	release, err := guard.Hold(1 << 40)
	err = errors.Join(err, guard.Next(t.Context())) // extra:access|tenants|websocket
	if err := errors.Join(err, staying.Err()); err != nil {
		t.Error(err)
	}
	release()
	if leave(); staying.Err() == nil {
		t.Error("leaving has no effect")
	} // extra:access|operate|tenants|websocket }
}
