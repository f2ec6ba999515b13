// extra:operate

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/threads/es/estest/testenv"
)

// On DynamoDB, operators follow the stream, and find events by reading them.
func TestOperatorsFollowTheJournal(t *testing.T) {
	s := newSystem(t).setUp(t)
	p := s.start(t)
	testenv.Eventually(t, soon, p.caughtUp)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/operate/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	key := s.create(t)
	if _, err := s.post(t.Context(), key, "hello"); err != nil {
		t.Fatal(err)
	}
	wanted := []string{`"type":"ThreadCreated"`, `"type":"ThreadMessagePosted"`, fmt.Sprintf(`"aid":%q,"version":2`, key)}
	for lines := bufio.NewScanner(response.Body); len(wanted) > 0; {
		if !lines.Scan() {
			t.Fatalf("the stream has ended: %v", lines.Err())
		}
		for len(wanted) > 0 && strings.Contains(lines.Text(), wanted[0]) {
			wanted = wanted[1:]
		}
	}

	for query, want := range map[string]struct {
		status int
		text   string
	}{
		"aid=" + key.String():                           {http.StatusOK, `"seq_nr":2,"event":{"type":"ThreadMessagePosted"`},
		"aid=" + key.String() + "&limit=1":              {http.StatusOK, `"next":2}`},
		"aid=" + key.String() + "&before=2":             {http.StatusOK, `{"events":[{"tenant":"","aid":"` + key.String() + `","seq_nr":1,`},
		"type=ThreadMessagePosted":                      {http.StatusOK, `{"events":[{"tenant":"","aid":"` + key.String() + `","seq_nr":2,`},
		"type=ThreadRenamed":                            {http.StatusOK, `{"events":[]}`},
		"after=nowhere":                                 {http.StatusUnprocessableEntity, "an answer's further"},
		"aid=" + key.String() + "&type=ThreadCreated":   {http.StatusOK, `{"events":[{"tenant":"","aid":"` + key.String() + `","seq_nr":1,`},
		"aid=thread-01ARZ3NDEKTSV4RRFFQ69G5FAV&limit=1": {http.StatusOK, `{"events":[]}`},
	} {
		if status, body, err := p.get("/operate/journal?" + query); err != nil || status != want.status || !strings.Contains(string(body), want.text) {
			t.Errorf("%q: %d %s, %v", query, status, body, err)
		}
	}
}
