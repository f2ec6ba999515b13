package access_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/access"
	"example.com/threads/extras/access/devissuer"
	"example.com/threads/extras/limits"
	"example.com/threads/interfaceadaptor/admission"
)

const (
	ada = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	bob = "01BX5ZZKBKACTAV9WEVGEMMVRZ"
)

func id(t *testing.T, text string) ident.UserID {
	t.Helper()
	parsed, err := ident.Parse[ident.UserAccount](text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// asked returns what the gate answers to a request with headers, by name and value.
func asked(t *testing.T, gate *access.Access, peer string, ask admission.Ask, headers ...string) (p admission.Principal, answer http.Header, err error) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
	request.RemoteAddr = peer
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	gate.Around(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { p, err = admission.Of(r).Enter(ask) })).ServeHTTP(recorder, request)
	return p, recorder.Header(), err
}

// refusedWith is the status of a refusal; 0: there is none.
func refusedWith(err error) int {
	var refusal *admission.Refusal
	if !errors.As(err, &refusal) {
		return 0
	}
	return refusal.Status
}

func TestWhatATokenAllows(t *testing.T) {
	p := newProvider(t)
	gate := &access.Access{Verify: verifier(p).Verify}
	for about, c := range map[string]struct {
		scopes string
		ask    admission.Ask
		status int
		tenant es.Tenant
	}{
		"one of the rights": {"threads:read threads:operate", admission.Ask{Rights: []admission.Right{admission.Write, admission.Operate}}, 0, "acme"},
		"no right":          {"threads:read act_as", admission.Ask{Rights: []admission.Right{admission.Write}}, http.StatusForbidden, ""},
		"its tenant":        {"threads:read", admission.Ask{Tenant: "acme"}, 0, "acme"},
		"another tenant":    {"threads:operate act_as", admission.Ask{Tenant: "other"}, http.StatusForbidden, ""},
		"any tenant":        {"threads:operate", admission.Ask{Tenant: "other", AnyTenant: true}, 0, "other"},
		"none of any":       {"threads:operate", admission.Ask{AnyTenant: true}, 0, "acme"},
		"no operator":       {"threads:write", admission.Ask{Tenant: "other", AnyTenant: true}, http.StatusForbidden, ""},
	} {
		if c.ask.Rights == nil {
			c.ask.Rights = []admission.Right{admission.Read, admission.Write, admission.Operate}
		}
		token := p.mint(t, devissuer.Grant{Account: ada, Tenant: "acme", Scope: c.scopes})
		p, _, err := asked(t, gate, "192.0.2.1:5", c.ask, "Authorization", "Bearer "+token)
		if refusedWith(err) != c.status || err == nil && (p.Tenant != c.tenant || p.Account != id(t, ada) || p.ActsForOthers != strings.Contains(c.scopes, "act_as")) {
			t.Errorf("%s: %+v, %v", about, p, err)
		}
	}
	anybody, _, err := asked(t, &access.Access{}, "192.0.2.1:5", admission.Ask{Tenant: "other", Rights: []admission.Right{admission.Operate}})
	if err != nil || anybody.Tenant != "other" || anybody.IsKnown() || anybody.ClientIP() != "192.0.2.1" {
		t.Errorf("with AUTH=none: %+v, %v", anybody, err)
	}
}

// reader is an account with the scope to read.
func reader(t *testing.T) access.Identity {
	return access.Identity{Principal: admission.Principal{Account: id(t, ada), Rights: []admission.Right{admission.Read}}}
}

func TestWhatARefusalTells(t *testing.T) {
	gate := &access.Access{
		Verify: func(_ context.Context, token string) (access.Identity, error) {
			if token == "late" {
				return access.Identity{}, access.Unauthenticated("the token has expired")
			}
			return reader(t), nil
		},
		PerAddress: limits.NewRate(5),
	}
	for about, c := range map[string]struct {
		peer, authorization string
		status              int
		name, value         string // a header
	}{
		"no token":    {"192.0.2.1:5", "", http.StatusUnauthorized, "WWW-Authenticate", `Bearer realm="threads"`},
		"a bad token": {"192.0.2.1:5", "Bearer late", http.StatusUnauthorized, "WWW-Authenticate", `Bearer realm="threads", error="invalid_token", error_description="the token has expired"`},
		"too many":    {"[2001:db8::7]:5", "Bearer good", http.StatusTooManyRequests, "Retry-After", "1"},
		"one too few": {"192.0.2.1:5", "Bearer good", http.StatusForbidden, "WWW-Authenticate", `Bearer realm="threads", error="insufficient_scope", scope="threads:write"`},
	} {
		var headers []string
		if c.authorization != "" {
			headers = []string{"Authorization", c.authorization}
		}
		for range 10 {
			gate.PerAddress.Take("2001:db8::/64")
		}
		_, header, err := asked(t, gate, c.peer, admission.Ask{Rights: []admission.Right{admission.Write}}, headers...)
		var refusal *admission.Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("%s: %v", about, err)
			continue
		}
		refusal.SetHeaders(header)
		if refusal.Status != c.status || header.Get(c.name) != c.value {
			t.Errorf("%s: %d, %s is %q", about, refusal.Status, c.name, header.Get(c.name))
		}
	}
}

// An account that sends more than it may must not use up what its tenant may send.
func TestAnAccountOverItsLimitCostsItsTenantNothing(t *testing.T) {
	gate := &access.Access{
		PerAccount: limits.NewRate(1), PerTenant: limits.NewRate(10),
		Verify: func(_ context.Context, token string) (access.Identity, error) {
			who := reader(t)
			who.Account = id(t, token)
			return who, nil
		},
	}
	ask := func(who string) int {
		_, _, err := asked(t, gate, "192.0.2.1:5", admission.Ask{Rights: []admission.Right{admission.Read}}, "Authorization", "Bearer "+who)
		return refusedWith(err)
	}
	refused := 0
	for range 30 {
		if ask(ada) == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 || ask(bob) != 0 {
		t.Errorf("after %d refused requests of an account, another one of its tenant is refused", refused)
	}
}

// A connection does not outlive the key that its token is signed with.
func TestAConnectionOfAWithdrawnKey(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		var verified error
		gate := &access.Access{
			Memory: limits.NewBudget(10, 10), Live: limits.NewBudget(1, 1),
			Verify: func(context.Context, string) (access.Identity, error) {
				known := reader(t)
				known.Expires = time.Now().Add(24 * time.Hour)
				return known, verified
			},
		}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		request.Header.Set("Authorization", "Bearer x")
		gate.Around(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			guard := admission.Of(r)
			if _, err := guard.Enter(admission.Ask{Stage: admission.Stream, Rights: []admission.Right{admission.Read}}); err != nil {
				t.Fatal(err)
			}
			staying, leave := guard.Stay(r.Context())
			defer leave()
			verified = &admission.Refusal{Status: http.StatusServiceUnavailable} // an issuer that is down
			if <-time.After(10 * time.Minute); staying.Err() != nil || guard.Next(r.Context()) != nil {
				t.Error("without the issuer, a connection ends")
			}
			verified = access.Unauthenticated("the token is not signed with a key of the issuer")
			if refusedWith(guard.Next(r.Context())) != http.StatusUnauthorized {
				t.Error("another operation is accepted")
			}
			if <-time.After(2 * time.Minute); refusedWith(context.Cause(staying)) != http.StatusUnauthorized {
				t.Errorf("the connection stays: %v", context.Cause(staying))
			}
		})).ServeHTTP(httptest.NewRecorder(), request)
	})
}

// What a request holds is free again when it ends, and a stream gives its body back with its first answer.
func TestWhatARequestHolds(t *testing.T) {
	gate := &access.Access{Memory: limits.NewBudget(10, 10), Live: limits.NewBudget(1, 1), Uninitialized: limits.NewBudget(100, 1), Verify: func(context.Context, string) (access.Identity, error) {
		return reader(t), nil
	}}
	read := []admission.Right{admission.Read}
	handle := func(do func(admission.Guard)) {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("12345678"))
		request.Header.Set("Authorization", "Bearer x")
		gate.Around(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { do(admission.Of(r)) })).ServeHTTP(httptest.NewRecorder(), request)
	}
	expect := func(about string, guard admission.Guard, stage admission.Stage, want int) {
		t.Helper()
		if _, err := guard.Enter(admission.Ask{Stage: stage, Rights: read}); refusedWith(err) != want {
			t.Errorf("%s: %v", about, err)
		}
	}
	for _, stage := range []admission.Stage{admission.Request, admission.Stream, admission.Handshake} {
		handle(func(guard admission.Guard) {
			expect("the first", guard, stage, 0)
			if stage == admission.Handshake {
				handle(func(guard admission.Guard) {
					expect("the second before connection_init", guard, stage, http.StatusTooManyRequests)
				})
				expect("connection_init", guard, admission.Init, 0)
				handle(func(guard admission.Guard) {
					expect("the second", guard, stage, 0)
					expect("more connections than an account may have", guard, admission.Init, http.StatusTooManyRequests)
				})
				return
			}
			if _, err := guard.Hold(3); refusedWith(err) != http.StatusTooManyRequests { // a stream keeps its document
				t.Errorf("an answer beside the body, at stage %d: %v", stage, err)
			}
		})
	}
}
