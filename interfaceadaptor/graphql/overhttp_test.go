package graphql_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
)

const (
	asJSON     = "application/json"
	asResponse = "application/graphql-response+json"
	asEvents   = "text/event-stream"
	asUrql     = "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed"
)

// exchange sends a request for an operation and returns the raw answer.
func exchange(t *testing.T, method, address, accept, body string) (status int, media string, raw string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json; charset=UTF-8")
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	media, _, _ = strings.Cut(response.Header.Get("Content-Type"), ";")
	return response.StatusCode, media, string(content)
}

func TestTheFormOfTheAnswerIsNegotiated(t *testing.T) {
	a := graphqltest.Serve(t, readmodeltest.SQLite(t), graphqltest.Settings{})
	for accept, want := range map[string]string{
		"":                                    asJSON,
		"*/*":                                 asJSON,
		"application/*":                       asJSON,
		"text/html":                           asJSON,
		asJSON:                                asJSON,
		asResponse:                            asResponse,
		"Text/Event-Stream":                   asEvents,
		asEvents:                              asEvents,
		asUrql:                                asResponse,
		"application/json, text/event-stream": asJSON,
		"text/event-stream, application/json": asJSON,
		"text/event-stream;q=0.9, application/json;q=0.8":                  asEvents,
		"text/event-stream; q=0.1, */*":                                    asJSON,
		"text/event-stream, */*;q=0.1":                                     asEvents,
		"text/event-stream;q=0, application/graphql-response+json;q=0.001": asResponse,
		"text/event-stream;q=0":                                            asJSON,
		"application/json;q=0.9, application/graphql-response+json":        asResponse,
		"application/json, application/graphql-response+json;q=0.9":        asJSON,
		"application/json;q=0, */*, text/event-stream;q=0.1":               asEvents,
		"multipart/mixed, application/json;charset=utf-8":                  asJSON,
	} {
		status, media, raw := exchange(t, http.MethodPost, a.URL, accept, `{"query": "{ __typename }"}`)
		if status != http.StatusOK || media != want || !strings.Contains(raw, `{"data":{"__typename":"Query"}}`) {
			t.Errorf("%s: %d %s %s, want %s", accept, status, media, raw, want)
		}
	}
}

// TestTheStatusOfAnErrorBeforeExecution follows GraphQL over HTTP: a request error is 200 as application/json and 4xx
// as application/graphql-response+json. Both have no entry data.
func TestTheStatusOfAnErrorBeforeExecution(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	a := graphqltest.Serve(t, readmodeltest.SQLite(t), graphqltest.Settings{})
	user := readmodeltest.NewUser().String()
	for name, test := range map[string]struct {
		body, code string
	}{
		"syntax":           {`{"query": "{"}`, "BAD_USER_INPUT"},
		"empty":            {`{"query": ""}`, "BAD_USER_INPUT"},
		"validation":       {`{"query": "{ nothing }"}`, "BAD_USER_INPUT"},
		"operation":        {`{"query": "query A { __typename }", "operationName": "B"}`, "BAD_USER_INPUT"},
		"variables":        {`{"query": "query($n: Int!) { __typename }"}`, "BAD_USER_INPUT"},
		"kind of variable": {`{"query": "query($n: Int) { getThreads(userAccountId: \"` + user + `\", first: $n) { id } }", "variables": {"n": "x"}}`, "BAD_USER_INPUT"},
		"subscription":     {`{"query": "subscription { threadChanged(threadId: \"` + user + `\", userAccountId: \"` + user + `\") { id } }"}`, "BAD_USER_INPUT"},
	} {
		for accept, want := range map[string]int{"": 200, asJSON: 200, asResponse: 400, asUrql: 400} {
			status, _, raw := exchange(t, http.MethodPost, a.URL, accept, test.body)
			if status != want || !strings.Contains(raw, `"code":"`+test.code+`"`) || strings.Contains(raw, `"data"`) {
				t.Errorf("%s as %q: %d %s, want %d", name, accept, status, raw, want)
			}
		}
	}
	for _, accept := range []string{asJSON, asResponse} { // an executed operation is a success
		status, _, raw := exchange(t, http.MethodPost, a.URL, accept, `{"query": "{ getThread(threadId: \"`+user+`\", userAccountId: \"`+user+`\") { id } }"}`)
		if status != http.StatusOK || !strings.Contains(raw, `"data":null`) || !strings.Contains(raw, "NOT_FOUND") {
			t.Errorf("%s: %d %s", accept, status, raw)
		}
	}
	// A version that is not reached yet must have a status that makes clients retry.
	behind := func(accept string) graphqltest.Answer {
		return a.Send(t, http.MethodPost, map[string]string{"Content-Type": asJSON, "Accept": accept, "Consistency-Token": user + ":1"}, `{"query": "{ __typename }"}`)
	}
	for accept, want := range map[string]int{asJSON: http.StatusOK, asResponse: http.StatusServiceUnavailable} {
		if got := behind(accept); got.Status != want || got.Code() != "READ_MODEL_BEHIND" || got.Data != nil {
			t.Errorf("%s: %d %q %s", accept, got.Status, got.Code(), got.Data)
		}
	}
}

func TestRequestsThatAreNoOperation(t *testing.T) {
	a := graphqltest.Serve(t, readmodeltest.SQLite(t), graphqltest.Settings{})
	for _, accept := range []string{"", asJSON, asResponse, asEvents} {
		for _, body := range []string{
			``, `{`, `[]`, `null`, `"{ __typename }"`, `{"query": "{ __typename }"} {}`, "{\"query\": \"{ __typename }\", \"x\": \"\xff\"}",
			`{}`, `{"query": null}`, `{"query": 5}`, `{"query": {}}`, `{"QUERY": "{ __typename }"}`,
			`{"query": "{ __typename }", "operationName": 5}`, `{"query": "{ __typename }", "operationName": {}}`,
			`{"query": "{ __typename }", "variables": "{}"}`, `{"query": "{ __typename }", "variables": []}`, `{"query": "{ __typename }", "variables": 0}`,
			`{"query": "{ __typename }", "extensions": []}`,
		} {
			status, media, raw := exchange(t, http.MethodPost, a.URL, accept, body)
			if status != http.StatusBadRequest || !strings.Contains(raw, `"code":"BAD_USER_INPUT"`) || media == asEvents {
				t.Errorf("%s as %q: %d %s %s", body, accept, status, media, raw)
			}
		}
		for _, parameters := range []string{
			``, `variables={}`, `query={__typename}&variables=[]`, `query={__typename}&variables=x`, `query={__typename}&variables="{}"`,
			`query={__typename}&extensions=1`, `query={__typename}&variables={}{}`, `query=%zz`,
		} {
			status, media, raw := exchange(t, http.MethodGet, a.URL+"?"+strings.ReplaceAll(parameters, `"`, "%22"), accept, "")
			if status != http.StatusBadRequest || !strings.Contains(raw, `"code":"BAD_USER_INPUT"`) || media == asEvents {
				t.Errorf("%s as %q: %d %s %s", parameters, accept, status, media, raw)
			}
		}
	}
	for _, body := range []string{ // optional entries may be null, and unknown entries are ignored
		`{"query": "{ __typename }", "operationName": null, "variables": null, "extensions": null, "unknown": 1}`,
		`{"query": "query A { __typename } query B { __typename }", "operationName": "B", "variables": {}, "extensions": {"a": 1}}`,
	} {
		if status, _, raw := exchange(t, http.MethodPost, a.URL, "", body); status != http.StatusOK || raw != `{"data":{"__typename":"Query"}}` {
			t.Errorf("%s: %d %s", body, status, raw)
		}
	}
}

func TestOperationsByGET(t *testing.T) {
	db := readmodeltest.SQLite(t)
	a, w := graphqltest.Serve(t, db, graphqltest.Settings{}), db.World(t, "")
	alice := readmodeltest.NewUser()
	chat := w.Thread("chat", alice)
	variables, err := json.Marshal(map[string]any{"thread": chat.String(), "user": alice.String(), "n": 1})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, query, accept string) (int, string, string) {
		parameters := url.Values{"query": {query}, "operationName": {"Q"}, "variables": {string(variables)}}
		return exchange(t, method, a.URL+"?"+parameters.Encode(), accept, "")
	}
	const document = `query Q($thread: ID!, $user: ID!, $n: Int) { getThread(threadId: $thread, userAccountId: $user) { name members(first: $n) { edges { node { role } } } } } query R { __typename }`
	if status, _, raw := ask(http.MethodGet, document, ""); status != http.StatusOK || raw != `{"data":{"getThread":{"name":"chat","members":{"edges":[{"node":{"role":"ADMIN"}}]}}}}` {
		t.Errorf("%d %s", status, raw)
	}
	if status, _, raw := ask(http.MethodHead, document, asEvents); status != http.StatusOK || raw != "" {
		t.Errorf("HEAD: %d %s", status, raw)
	}
	if status, media, raw := ask(http.MethodGet, document, asEvents); status != http.StatusOK || media != asEvents || !strings.Contains(raw, "event: next") || !strings.HasSuffix(raw, "event: complete\ndata:\n\n") {
		t.Errorf("%d %s %s", status, media, raw)
	}
	const subscription = `subscription Q($thread: ID!, $user: ID!) { threadChanged(threadId: $thread, userAccountId: $user) { name } }`
	if status, _, raw := ask(http.MethodGet, subscription, ""); status != http.StatusOK || !strings.Contains(raw, "BAD_USER_INPUT") {
		t.Errorf("a subscription: %d %s", status, raw)
	}
}

// Java's HTTP client offers an upgrade to HTTP/2 like this, and works without it.
func TestAnUpgradeThatWeDoNotOfferIsIgnored(t *testing.T) {
	a := graphqltest.Serve(t, readmodeltest.SQLite(t), graphqltest.Settings{})
	header := map[string]string{"Content-Type": asJSON, "Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAAQ"}
	if got := a.Send(t, http.MethodPost, header, `{"query": "{ __typename }"}`); got.Status != http.StatusOK || got.Code() != "" {
		t.Errorf("%d %q", got.Status, got.Code())
	}
}
