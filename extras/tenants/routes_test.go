package tenants_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/tenants"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/tests/sealed"
)

const ada = "01H42K4ABWQ5V2XQEP3A48VE0A"

// taker stores the last request.
type taker struct{ last es.Request[tenants.Command] }

func (k *taker) Handle(_ context.Context, r es.Request[tenants.Command]) (es.Result, error) {
	k.last = r
	return es.Result{Key: tenants.Key(codeOf(r.Command)), Version: 2, About: map[string]string{"tenant_code": "acme"}}, nil
}

func (*taker) Snapshot(context.Context, es.Caller, string) (uint64, error) { return 0, nil }

func codeOf(c tenants.Command) tenants.Code {
	create, _ := c.(tenants.Create)
	return create.Code
}

// Requests become commands of the registry's own tenant, whichever tenant they name. Their content, by which repeats
// are recognised, must never change.
func TestOperations(t *testing.T) {
	var service taker
	handler := rest.NewHandler([]rest.Aggregate{tenants.Operations(&service)}, rest.Settings{
		Source: "write-api", Log: slog.New(slog.DiscardHandler), Timeout: time.Minute,
	})
	var served []string
	for path, test := range map[string]struct {
		status int
		name   string
	}{
		"/tenants/create":     {http.StatusCreated, "tenant.Create"},
		"/tenants/suspend":    {http.StatusOK, "tenant.Suspend"},
		"/tenants/reactivate": {http.StatusOK, "tenant.Reactivate"},
	} {
		const body = `{"tenant_code":"acme","executor_id":"` + ada + `"}`
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", "once")
		request.Header.Set("X-Tenant-Code", "other")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code != test.status || answer.Body.String() != `{"tenant_code":"acme","version":2}`+"\n" {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
		got := service.last
		if got.Name != test.name || got.Content != `{"executor_id":"`+ada+`","tenant_code":"acme"}` || got.Begins ||
			got.ID != "59NK54ZV55ECEB71PC9G7Y7G7N" || got.Caller.Tenant != "" || got.Caller.Executor != ada {
			t.Errorf("%s became %+v", path, got)
		}
		served = append(served, sealed.Name(got.Command))
	}
	sealed.Check(t, "commands that an operation stands for", sealed.Types(t, "example.com/threads/extras/tenants", "name"), served)
}

// The document lists the rejections of each operation. They must be exactly those of the aggregate.
func TestRejectionsAreDescribed(t *testing.T) {
	for i, command := range []tenants.Command{tenants.Create{Code: acme}, tenants.Suspend{}, tenants.Reactivate{}} {
		met := map[string]bool{}
		for _, state := range []tenants.Tenant{{}, rules.After(created), rules.After(created, suspended)} {
			if _, err := tenants.Decide(state, command); err != nil {
				met[codeOfRejection(err)] = true
			}
		}
		operation := tenants.Operations(&taker{}).Operations[i]
		var described []string
		for _, err := range operation.Rejections {
			described = append(described, codeOfRejection(err))
		}
		sealed.Check(t, "rejections of "+operation.Path, slices.Sorted(maps.Keys(met)), described)
	}
}

func codeOfRejection(err error) string {
	rejection, _ := err.(*ident.Rejection) //nolint:errorlint // compare the value itself
	return rejection.Code()
}
