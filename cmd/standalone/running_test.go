// extra:whole

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/access/devissuer"
)

// running is the program in the test's process.
type running struct {
	write, read, updater, web string // URLs
	said                      *testenv.Log
	stop                      func() error
}

// start runs the program until the test ends, and returns when it is ready.
func start(t *testing.T, more map[string]string) *running {
	t.Helper()
	env := environment(t)
	address := func(name string) string {
		env[name] = fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t))
		return "http://" + env[name]
	}
	r := &running{write: address("WRITE_API_ADDR"), read: address("READ_API_ADDR"), updater: address("UPDATER_ADDR"), web: address("WEB_ADDR"), said: &testenv.Log{}}
	maps.Copy(env, more)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, nil, getenv(env), r.said) }()
	r.stop = sync.OnceValue(func() error {
		stop()
		select {
		case err := <-done:
			return err
		case <-time.After(15 * time.Second):
			return errors.New("the program does not stop")
		}
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(r.said)
		}
	})
	for _, url := range []string{r.write, r.read, r.updater, r.web} {
		testenv.Eventually(t, 30*time.Second, func() error {
			got, err := send(t, http.MethodGet, url+"/health/ready", "", nil)
			if err == nil && got.status != http.StatusOK {
				err = fmt.Errorf("%s: %d %s", url, got.status, got.raw)
			}
			return err
		})
	}
	return r
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (a answer) code() string { code, _ := a.body["code"].(string); return code }

func (a answer) text(name string) string { text, _ := a.body[name].(string); return text }

// send sends a request; headers are names and values in turn.
func send(t *testing.T, method, url, body string, headers []string) (answer, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	got := answer{status: response.StatusCode, header: response.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &got.body) // pages are not JSON
	return got, err
}

// do sends a command. An empty token sends no Authorization header.
func (r *running) do(t *testing.T, token, path string, body map[string]any, headers ...string) answer {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := send(t, http.MethodPost, r.write+path, string(encoded), append(headers, authorization(token)...))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// ask sends a query.
func (r *running) ask(t *testing.T, token, query string, headers ...string) answer {
	t.Helper()
	encoded, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	got, err := send(t, http.MethodPost, r.read+"/graphql", string(encoded), append(headers, authorization(token)...))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func authorization(token string) []string {
	if token == "" {
		return nil
	}
	return []string{"Authorization", "Bearer " + token}
}

// errorCode returns extensions.code of a GraphQL response's first error; empty: no error.
func (a answer) errorCode() string {
	var decoded struct {
		Errors []struct {
			Extensions struct{ Code string }
		}
	}
	_ = json.Unmarshal([]byte(a.raw), &decoded)
	if len(decoded.Errors) == 0 {
		return ""
	}
	return decoded.Errors[0].Extensions.Code
}

// issuer is an OpenID Connect issuer, with the environment of programs that trust it.
type issuer struct{ *devissuer.Issuer }

func newIssuer(t *testing.T) issuer {
	t.Helper()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	made, err := devissuer.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	handler = made.Handler()
	return issuer{made}
}

func (i issuer) trusted(more ...string) map[string]string {
	env := map[string]string{"AUTH": "oidc", "AUTH_ISSUER": i.URL(), "AUTH_AUDIENCE": devissuer.Audience}
	for n := 0; n < len(more); n += 2 {
		env[more[n]] = more[n+1]
	}
	return env
}

func (i issuer) token(t *testing.T, account, tenant, scope string) string {
	t.Helper()
	return i.tokenFor(t, account, tenant, scope, time.Hour)
}

func (i issuer) tokenFor(t *testing.T, account, tenant, scope string, lifetime time.Duration) string {
	t.Helper()
	token, err := i.Mint(devissuer.Grant{Account: account, Tenant: tenant, Scope: scope, Lifetime: lifetime})
	if err != nil {
		t.Fatal(err)
	}
	return token
}
