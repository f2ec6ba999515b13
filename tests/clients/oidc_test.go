package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// provider is a third-party OpenID Connect provider (provider.js).
type provider struct {
	issuer string
	orders io.Writer
	said   *bufio.Scanner
}

func startProvider(t *testing.T, env ...string) *provider {
	t.Helper()
	ctx, stop := context.WithTimeout(context.WithoutCancel(t.Context()), 10*scriptTime)
	command := exec.CommandContext(ctx, "node", "provider.js")
	command.Env = append(os.Environ(), env...)
	orders, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = orders.Close() // it ends when its input ends
		if err := command.Wait(); err != nil {
			t.Errorf("provider.js: %v", err)
		}
		stop()
	})
	p := &provider{orders: orders, said: bufio.NewScanner(output)}
	p.issuer = p.line(t, "http://")
	return p
}

// line returns the next line with this beginning. Other output is for the provider's developers.
func (p *provider) line(t *testing.T, beginning string) string {
	t.Helper()
	for p.said.Scan() {
		if line := p.said.Text(); strings.HasPrefix(line, beginning) {
			return line
		}
	}
	t.Fatalf("the provider ended: %v", p.said.Err())
	return ""
}

func (p *provider) token(t *testing.T, client, scope, audience string) string {
	t.Helper()
	if _, err := fmt.Fprintf(p.orders, "%s|%s|%s\n", client, scope, audience); err != nil {
		t.Fatal(err)
	}
	return p.line(t, "eyJ")
}

func TestTokensOfARealProvider(t *testing.T) {
	installNode(t)
	const audience, both = "urn:threads", "threads:read threads:write"
	p := startProvider(t)
	s := startWith(t, "AUTH=oidc", "AUTH_ISSUER="+p.issuer, "AUTH_AUDIENCE="+audience)
	ada := p.token(t, "ada", both, audience)
	created := s.command(t, ada, "/threads/create", map[string]string{"name": "tea"}, http.StatusCreated)
	onThread := map[string]string{"thread_id": created["thread_id"], "name": "coffee"}

	for about, c := range map[string]struct {
		token  string
		status int
		code   string
	}{
		"no token":                    {"", http.StatusUnauthorized, "unauthenticated"},
		"another audience":            {p.token(t, "ada", both, "urn:shop"), http.StatusUnauthorized, "unauthenticated"},
		"no account":                  {p.token(t, "none", both, audience), http.StatusUnauthorized, "unauthenticated"},
		"the scope to read":           {p.token(t, "ada", "threads:read", audience), http.StatusForbidden, "forbidden"},
		"somebody else":               {p.token(t, "bob", both, audience), http.StatusForbidden, "not_a_member"},
		"a token of another tenant":   {p.token(t, "other", both, audience), http.StatusNotFound, "thread_not_found"},
		"a token without a signature": {ada[:strings.LastIndex(ada, ".")+1], http.StatusUnauthorized, "unauthenticated"},
	} {
		if got := s.command(t, c.token, "/threads/rename", onThread, c.status); got["code"] != c.code {
			t.Errorf("%s: %v", about, got)
		}
	}
	s.command(t, ada, "/threads/rename", onThread, http.StatusOK)
	env := append(s.env(), "TOKEN="+ada, "OTHER_TOKEN="+p.token(t, "bob", both, audience), "THREAD="+created["thread_id"])
	runScript(t, env, nil, "node", "tokens.js")
}

// command sends a command and returns the string fields of the answer.
func (s *system) command(t *testing.T, token, path string, body map[string]string, status int) map[string]string {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.write.URLs[0]+path, strings.NewReader(string(encoded)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer map[string]any
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != status {
		t.Errorf("%s: got %s %v, %v; want %d", path, response.Status, answer, err, status)
	}
	texts := map[string]string{}
	for name, value := range answer {
		if text, ok := value.(string); ok {
			texts[name] = text
		}
	}
	return texts
}
