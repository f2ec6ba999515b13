package access_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/access"
	"example.com/threads/extras/limits"
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

func principal(t *testing.T, scopes ...string) access.Principal {
	t.Helper()
	p, err := access.NewPrincipal(ada, "acme", scopes, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func reasonOf(err error) access.Reason {
	var refusal *access.Refusal
	if !errors.As(err, &refusal) {
		return -1
	}
	return refusal.Reason
}

func TestWhoAPrincipalIs(t *testing.T) {
	var anybody access.Principal
	if who, err := anybody.For(id(t, bob)); err != nil || who != id(t, bob) {
		t.Errorf("with AUTH=none the named account is not accepted: %s, %v", who, err)
	}
	if err := anybody.Needs(access.Operate); err != nil {
		t.Errorf("with AUTH=none a scope is required: %v", err)
	}
	p := principal(t, "threads:read")
	for _, named := range []ident.UserID{{}, id(t, ada)} {
		if who, err := p.For(named); err != nil || who != id(t, ada) {
			t.Errorf("naming %q, the principal acts for %s, %v", named, who, err)
		}
	}
	if _, err := p.For(id(t, bob)); reasonOf(err) != access.NotAllowed {
		t.Errorf("naming another account: %v", err)
	}
	if who, err := principal(t, "act_as").For(id(t, bob)); err != nil || who != id(t, bob) {
		t.Errorf("with act_as the principal acts for %s, %v", who, err)
	}
	other, err := es.ParseTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := principal(t, "act_as").In(other); reasonOf(err) != access.NotAllowed {
		t.Errorf("naming another tenant: %v", err)
	}
	if tenant, err := p.In(es.Tenant("")); err != nil || tenant.String() != "acme" {
		t.Errorf("the principal's tenant is %s, %v", tenant, err)
	}
}

func TestWhatARefusalTells(t *testing.T) {
	gate := &access.Gate{
		Verify: func(_ context.Context, token string) (access.Principal, error) {
			if token == "late" {
				return access.Principal{}, access.Unauthenticated("the token has expired")
			}
			return access.NewPrincipal(ada, "", []string{"threads:read"}, time.Time{})
		},
		PerAddress: func(key string) limits.Taken {
			if key == "2001:db8::/64" {
				return limits.Taken{Limit: 5, Wait: 1500 * time.Millisecond}
			}
			return limits.Taken{Limit: 5, Remaining: 4}
		},
	}
	for about, c := range map[string]struct {
		peer, authorization string
		status              int
		name, value         string // a header
	}{
		"no token":    {"192.0.2.1:5", "", http.StatusUnauthorized, "WWW-Authenticate", `Bearer realm="threads"`},
		"a bad token": {"192.0.2.1:5", "Bearer late", http.StatusUnauthorized, "WWW-Authenticate", `Bearer realm="threads", error="invalid_token", error_description="the token has expired"`},
		"too many":    {"[2001:db8::7]:5", "Bearer good", http.StatusTooManyRequests, "Retry-After", "2"},
		"one too few": {"192.0.2.1:5", "Bearer good", http.StatusForbidden, "WWW-Authenticate", `Bearer realm="threads", error="insufficient_scope", scope="threads:write"`},
	} {
		request := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		if c.authorization != "" {
			request.Header.Set("Authorization", c.authorization)
		}
		header := http.Header{}
		p, err := gate.Enter(header, request)
		if err == nil {
			err = p.Needs(access.Write)
		}
		var refusal *access.Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("%s: %v", about, err)
			continue
		}
		refusal.SetHeaders(header)
		if refusal.Status() != c.status || header.Get(c.name) != c.value {
			t.Errorf("%s: %d, %s is %q", about, refusal.Status(), c.name, header.Get(c.name))
		}
		if header.Get("RateLimit-Limit") != "5" {
			t.Errorf("%s: the RateLimit headers are missing", about)
		}
	}
}
