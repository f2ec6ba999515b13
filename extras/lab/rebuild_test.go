package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/lab"
	"example.com/threads/tests/readmodeltest"
)

// twoPages is a journal of two pages.
type twoPages struct{ es.Journal }

func (twoPages) ReadJournal(_ context.Context, _, _ int, after string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		first := es.JournalPage{Entries: []es.Queued{{Position: 1}, {Position: 2}, {Position: 3}}, Next: "3"}
		if after == "" && !yield(first, nil) {
			return
		}
		yield(es.JournalPage{Entries: []es.Queued{{Position: 4}}, Next: "4"}, nil)
	}
}

// Each event comes alone and is followed by the hold, until its lease ends. A position is stored only when all before
// it was read.
func TestARebuildIsHeldAfterEachEvent(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		l := lab.New()
		read := func(after string, hold string) (pages, nexts []string, took time.Duration) {
			set(t, l, hold)
			began := time.Now()
			for page, err := range l.Faults().Rebuild(twoPages{}).ReadJournal(t.Context(), 0, 1, after) {
				if err != nil {
					t.Fatal(err)
				}
				pages, nexts = append(pages, strings.Repeat("e", len(page.Entries))), append(nexts, page.Next)
			}
			return pages, nexts, time.Since(began)
		}
		for _, c := range []struct {
			about, after, hold string
			pages, nexts       []string
			took               time.Duration
		}{
			{"held", "", `{"replay_ms":500}`, []string{"e", "e", "e", "e"}, []string{"", "", "3", "4"}, 2 * time.Second},
			{"goes on", "3", `{"replay_ms":500}`, []string{"e"}, []string{"4"}, time.Second / 2},
			{"the lease ends", "", `{"replay_ms":10000}`, []string{"e", "e", "e", "e"}, []string{"", "", "3", "4"}, 20 * time.Second},
			{"held in parts", "", `{"replay_ms":500,"replay_events":2}`, []string{"ee", "e", "e"}, []string{"", "3", "4"}, 3 * time.Second / 2},
			{"not held", "", `{"replay_ms":0}`, []string{"eee", "e"}, []string{"3", "4"}, 0},
		} {
			if pages, nexts, took := read(c.after, c.hold); !slices.Equal(pages, c.pages) || !slices.Equal(nexts, c.nexts) || took != c.took {
				t.Errorf("%s: %q, %q in %s", c.about, pages, nexts, took)
			}
		}
	})
}

// Only the keys of the second set's rows are told, and only while there is one.
func TestTheSecondSetIsTold(t *testing.T) {
	db := readmodeltest.SQLite(t).DB
	told := func(expected string) {
		t.Helper()
		answer := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/new-rows?thread=tea", nil)
		lab.New().Handler("", db).ServeHTTP(answer, request)
		if found := strings.TrimSpace(answer.Body.String()); found != expected {
			t.Errorf("found %s, expected %s", found, expected)
		}
	}
	run := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	const nothing = `{"made":false,"version":0,"members":[],"messages":[],"count":0}`
	told(nothing)
	for _, table := range []string{"threads", "members", "messages"} {
		run("CREATE TABLE " + table + "_next AS SELECT * FROM " + table)
	}
	told(`{"made":true,"version":0,"members":[],"messages":[],"count":0}`)
	run(
		"INSERT INTO threads_next (id, name, version) VALUES ('tea', 'a secret name', 4), ('coffee', 'another one', 9)",
		"INSERT INTO members_next (thread_id, user_account_id, removed) VALUES ('tea', 'ada', 0), ('tea', 'bob', 1), ('coffee', 'carol', 0)",
		"INSERT INTO messages_next (id, thread_id, text, deleted) VALUES ('m1', 'tea', 'a secret', 0), ('m2', 'tea', '', 1), ('m3', 'coffee', '', 0)",
	)
	told(`{"made":true,"version":4,"members":["ada"],"messages":["m1"],"count":1}`)
	run("DROP TABLE messages_next")
	told(nothing)
}

// What is told is of one version, also while the rebuild writes.
func TestTheSecondSetIsToldAsOfOneMoment(t *testing.T) {
	const versions = 300
	db := readmodeltest.SQLite(t).DB
	for _, table := range []string{"threads", "members", "messages"} {
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+table+"_next AS SELECT * FROM "+table); err != nil {
			t.Fatal(err)
		}
	}
	written := make(chan error, 1)
	go func() {
		defer close(written)
		for version := 1; version <= versions; version++ {
			tx, err := db.BeginTxx(t.Context(), nil)
			if err != nil {
				written <- err
				return
			}
			_, deleted := tx.ExecContext(t.Context(), "DELETE FROM threads_next")
			_, thread := tx.ExecContext(t.Context(), "INSERT INTO threads_next (id, version) VALUES ('tea', ?)", version)
			_, message := tx.ExecContext(t.Context(), "INSERT INTO messages_next (id, thread_id, deleted) VALUES (?, 'tea', 0)", version)
			if err := errors.Join(deleted, thread, message, tx.Commit()); err != nil {
				written <- err
				return
			}
		}
	}()
	handler := lab.New().Handler("", db)
	for read := (struct{ Version, Count int }{}); read.Version < versions; {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/new-rows?thread=tea", nil))
		if err := json.Unmarshal(answer.Body.Bytes(), &read); err != nil || read.Version != read.Count {
			t.Fatalf("%s: %v", answer.Body, err)
		}
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
		default:
		}
	}
}
