package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
)

// httpClient keeps as many connections as the tests have clients.
var httpClient = &http.Client{
	Timeout:   30 * time.Second,
	Transport: &http.Transport{MaxIdleConnsPerHost: 256, MaxIdleConns: 256},
}

// answer is a program's response.
type answer struct {
	status int
	header http.Header
	raw    []byte
	body   map[string]any
}

func (a answer) text(field string) string {
	text, _ := a.body[field].(string)
	return text
}

func (a answer) version() int {
	number, _ := a.body["version"].(float64)
	return int(number)
}

type headers map[string]string

type fields map[string]any

// send posts a body.
func send(ctx context.Context, url string, body []byte, header headers) (answer, error) {
	return exchange(ctx, http.MethodPost, url, body, header)
}

// exchange sends a request. err is an error of the connection, never an error response.
func exchange(ctx context.Context, method, url string, body []byte, header headers) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	for key, value := range header {
		request.Header.Set(key, value)
	}
	response, err := httpClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: response.StatusCode, header: response.Header, raw: raw, body: map[string]any{}}
	if media := response.Header.Get("Content-Type"); strings.HasSuffix(media, "json") && media != "application/x-ndjson" {
		err = json.Unmarshal(raw, &a.body)
	}
	return a, err
}

// at returns the same person as a client of another system with the same data.
func (p person) at(s *system) person {
	p.system = s
	return p
}

// person is a client with a user account in a tenant.
type person struct {
	system *system
	id     string
	header headers
}

func (s *system) person(tenant string) person {
	header := headers{}
	if tenant != "" {
		header["X-Tenant-Code"] = tenant
	}
	return person{system: s, id: ulid.Make().String(), header: header}
}

// try sends a command and returns the answer, accepted or rejected.
func (p person) try(ctx context.Context, path string, body fields, extra headers) (answer, error) {
	all := fields{"executor_id": p.id}
	maps.Copy(all, body)
	encoded, err := json.Marshal(all)
	if err != nil {
		return answer{}, err
	}
	header := maps.Clone(p.header)
	maps.Copy(header, extra)
	return send(ctx, p.system.writeURL+path, encoded, header)
}

// command sends a command that must be accepted.
func (p person) command(t *testing.T, path string, body fields) answer {
	t.Helper()
	a := p.attempt(t, path, body, nil)
	if a.status/100 != 2 {
		t.Fatalf("%s: %d %s", path, a.status, a.raw)
	}
	return a
}

// attempt sends a command that may be rejected.
func (p person) attempt(t *testing.T, path string, body fields, extra headers) answer {
	t.Helper()
	a, err := p.try(t.Context(), path, body, extra)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return a
}

// queryError is an error of a GraphQL answer.
type queryError struct {
	Message    string
	Path       []any
	Extensions struct{ Code string }
}

// query sends a query, which waits for the tokens first, and decodes the data into result.
func (p person) query(ctx context.Context, result any, query string, variables fields, tokens ...string) ([]queryError, error) {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return nil, err
	}
	header := maps.Clone(p.header)
	if len(tokens) > 0 {
		header["Consistency-Token"] = strings.Join(tokens, ",")
	}
	a, err := send(ctx, p.system.readURL+"/graphql", body, header)
	if err != nil {
		return nil, err
	}
	var decoded struct {
		Data   json.RawMessage
		Errors []queryError
	}
	if err := json.Unmarshal(a.raw, &decoded); err != nil {
		return nil, fmt.Errorf("%d %s: %w", a.status, a.raw, err)
	}
	if len(decoded.Errors) == 0 {
		err = json.Unmarshal(decoded.Data, result)
	}
	return decoded.Errors, err
}

// ask sends a query that must succeed.
func (p person) ask(t *testing.T, result any, query string, variables fields, tokens ...string) {
	t.Helper()
	late := []string{"READ_MODEL_BEHIND", "UNAVAILABLE"} // beside all other tests
	for began := time.Now(); ; {
		errs, err := p.query(t.Context(), result, query, variables, tokens...)
		switch {
		case err == nil && len(errs) == 0:
			return
		case err != nil || !slices.Contains(late, errs[0].Extensions.Code) || time.Since(began) > time.Minute:
			t.Fatalf("%s: %v %+v", query, err, errs)
		}
	}
}

// refused sends a query that must fail, and returns the error's code.
func (p person) refused(t *testing.T, query string, variables fields, tokens ...string) string {
	t.Helper()
	var data any
	errs, err := p.query(t.Context(), &data, query, variables, tokens...)
	if err != nil || len(errs) == 0 {
		t.Fatalf("%s: must be refused, answered %v, %v", query, data, err)
	}
	return errs[0].Extensions.Code
}

// queryCode is the code of an error that ends a subscription.
type queryCode string

func (c queryCode) Error() string { return string(c) }

// subscribe follows fields of a thread by server-sent events until the connection ends.
func (p person) subscribe(ctx context.Context, threadID, selected string, see func(threadData)) error {
	body, err := json.Marshal(fields{
		"query":     "subscription($thread: ID!, $viewer: ID!) { threadChanged(threadId: $thread, userAccountId: $viewer) " + selected + " }",
		"variables": fields{"thread": threadID, "viewer": p.id},
	})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.system.readURL+"/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	all := headers{"Content-Type": "application/json", "Accept": "text/event-stream"}
	maps.Copy(all, p.header)
	for name, value := range all {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data:")
		if !is || strings.TrimSpace(data) == "" {
			continue
		}
		var next struct {
			Data   struct{ ThreadChanged threadData }
			Errors []queryError
		}
		if err := json.Unmarshal([]byte(data), &next); err != nil {
			return fmt.Errorf("%s: %w", data, err)
		}
		if len(next.Errors) > 0 {
			return fmt.Errorf("%s: %w", data, queryCode(next.Errors[0].Extensions.Code))
		}
		see(next.Data.ThreadChanged)
	}
	return errors.Join(errors.New("it ended"), lines.Err())
}

func token(a answer) string { return a.header.Get("Consistency-Token") }
