package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/threads/es"
)

var wrongQueries = []string{"limit=0", "limit=201", "limit=x", "before=-1", "aid=counter", "aid=counter-1", "since=yesterday", "type=Gr%C3%BC%C3%9Fe", "executor=a%20b"}

func TestTheJournalIsSearched(t *testing.T) {
	s := start(t)
	for i := range 10 {
		s.add([]string{one, two}[i%2], i)
	}
	for query, want := range map[string]string{
		"":                                 "10 9 8 7 6 5 4 3 2 1",
		"limit=3":                          "10 9 8",
		"limit=3&before=8":                 "7 6 5",
		"aid=counter-" + two + "&limit=2":  "5 4", // numbers of the aggregate's events
		"aid=counter-" + two + "&before=2": "1",
		"correlation=request-3":            "4",
		"executor=" + two:                  "",
		"type=CounterAdded&limit=1":        "10",
		"type=Other":                       "",
		"since=2000-01-01T00:00:00Z&until=2000-01-02T00:00:00Z": "",
		"since=2000-01-01T00:00:00Z&limit=1":                    "10",
	} {
		var positions []string
		for _, each := range s.find(query).Events {
			positions = append(positions, fmt.Sprint(each.Position))
		}
		if got := strings.Join(positions, " "); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	s.refuse(wrongQueries...)
}

// unordered is a journal without an order of all events, such as DynamoDB's: it can't search. It has pages of 4 events.
type unordered struct{ es.Journal }

func (u unordered) ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		for page, err := range u.Journal.ReadJournal(ctx, part, parts, after) {
			if err != nil {
				yield(page, err)
				return
			}
			for some := range slices.Chunk(page.Entries, 4) {
				if !yield(es.JournalPage{Entries: some, Next: strconv.FormatUint(some[len(some)-1].Position, 10)}, nil) {
					return
				}
			}
		}
	}
}

// Where the store can't search, the events are read and compared.
func TestAJournalWithoutAnOrderIsLookedThrough(t *testing.T) {
	s := startOn(t, func(journal es.Journal) es.Journal { return unordered{journal} })
	for i := range 10 {
		s.add([]string{one, two}[i%2], i)
	}
	for query, want := range map[string]string{ // the numbers that were added, and how to go on
		"":                                       "9 8 7 6 5 4 3 2 1 0",
		"limit=3":                                "3 2 1 0, after 4", // whole pages of the store
		"limit=3&after=4":                        "7 6 5 4, after 8",
		"limit=3&after=8":                        "9 8",
		"correlation=request-3":                  "3",
		"correlation=request-3&type=Other":       "",
		"executor=" + one + "&limit=9":           "9 8 7 6 5 4 3 2 1 0",
		"executor=" + two:                        "",
		"type=CounterAdded&limit=8":              "7 6 5 4 3 2 1 0, after 8",
		"since=2000-01-01T00:00:00Z&limit=200":   "9 8 7 6 5 4 3 2 1 0",
		"until=2000-01-01T00:00:00Z":             "",
		"aid=counter-" + two + "&limit=2":        "9 7, before 4",
		"aid=counter-" + two + "&before=2":       "1",
		"aid=counter-" + two + "&before=1":       "",
		"aid=counter-01ARZ3NDEKTSV4RRFFQ69G5FAV": "",
		"aid=counter-" + two + "&limit=1&correlation=request-3":                           "3",
		"aid=counter-" + two + "&limit=2&correlation=request-3":                           "3",
		"aid=counter-" + two + "&limit=2&until=2000-01-01T00:00:00Z":                      "",
		"aid=counter-" + two + "&limit=3&since=2000-01-01T00:00:00Z":                      "9 7 5, before 3",
		"aid=counter-" + two + "&before=3&limit=9&executor=" + one + "&type=CounterAdded": "3 1",
	} {
		page := s.find(query)
		var numbers []string
		for _, each := range page.Events {
			fields, _ := each.Event.(map[string]any)
			numbers = append(numbers, strings.TrimPrefix(fmt.Sprint(fields["correlation_id"]), "request-"))
		}
		got := strings.Join(numbers, " ")
		if page.Next > 0 {
			got += fmt.Sprint(", before ", page.Next)
		}
		if page.Further != "" {
			got += ", after " + page.Further
		}
		if got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	s.refuse(append(wrongQueries, "after=nowhere")...)
}

func (s *system) find(query string) (page found) {
	s.t.Helper()
	if err := json.NewDecoder(s.get("/operate/journal?"+query, http.StatusOK)).Decode(&page); err != nil {
		s.t.Fatal(err)
	}
	return page
}

func (s *system) refuse(queries ...string) {
	s.t.Helper()
	for _, query := range queries {
		_ = s.get("/operate/journal?"+query, http.StatusUnprocessableEntity).Close()
	}
}
