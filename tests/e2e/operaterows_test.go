package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es/estest/testenv"
)

// difference is an element of the output of `rows verify --json`.
type difference struct{ Tenant, AID, Row, What, Expected, Found string }

// wantDifferences verifies everything: exactly these differences must be found, all in this aggregate.
func (s *system) wantDifferences(t *testing.T, aid string, want ...string) {
	t.Helper()
	var told struct{ Differences []difference }
	if err := json.Unmarshal([]byte(s.operate(t, isWrong, "rows", "verify", "--json")), &told); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, d := range told.Differences {
		found = append(found, d.What)
		if d.AID != aid || d.Tenant != "acme" || d.Row == "" || d.Expected == d.Found {
			t.Errorf("told: %+v", d)
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, want) {
		t.Errorf("found %v, want %v:\n%+v", found, want, told.Differences)
	}
}

// Damage in the read model must be detected automatically, reported and repaired while the programs run.
func TestAnOperatorMendsTheReadModel(t *testing.T) {
	eachOwnSystem(t, func(t *testing.T, s *system) {
		ada, rows := s.person("acme"), sqlSpoiler{variable(s.store, "DATABASE_URL")}
		s.projector.Stop(t)
		s.projector.Set("REBUILD=manual") // as it may see rows ahead of the journal
		s.projector.Start(t)
		thread := ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
		s.person("").command(t, "/threads/create", fields{"name": "another"})
		var last answer
		for i := range 5 {
			last = ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": fmt.Sprint("cup ", i)})
		}
		before := ada.view(t, thread, token(last))
		if said := s.operate(t, allIsWell, "rows", "verify"); !strings.Contains(said, "\nok: true\n") {
			t.Errorf("the alarm RowsDiffer of deploy/aws finds no line in:\n%s", said)
		}

		aid := "thread-" + thread
		for _, spoilt := range []struct{ statement, want string }{
			{"UPDATE messages SET text = 'spoilt' WHERE thread_id = ? AND seq_nr = 3", "text"},
			{"UPDATE threads SET name = 'coffee' WHERE id = ?", "name"},
			{"UPDATE threads SET version = 99 WHERE id = ?", "version"},
			{"DELETE FROM members WHERE thread_id = ?", "a row is missing"},
			{"DELETE FROM messages WHERE thread_id = ? AND seq_nr = 2", "a row is missing"},
			{"UPDATE messages SET user_account_id = 'nobody' WHERE thread_id = ? AND seq_nr = 4", "it holds what can't be there"},
			{"UPDATE projection_positions SET version = 99 WHERE aggregate_id = ?", "the rows claim events that the journal does not have"},
		} {
			rows.run(t, spoilt.statement, thread)
			s.wantDifferences(t, aid, spoilt.want)
			s.operate(t, allIsWell, "rows", "verify", aid, "--tenant", "acme", "--repair")
		}
		s.operate(t, allIsWell, "rows", "verify")
		last = ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "one more"})
		if after := ada.view(t, thread, token(last)); len(after.Messages) != len(before.Messages)+1 {
			t.Errorf("%d messages after all, want one more than %d", len(after.Messages), len(before.Messages))
		}

		// Without any request: the updater verifies continuously.
		rows.run(t, "UPDATE threads SET name = 'coffee' WHERE id = ?", thread)
		wantMetric := func(want string) {
			t.Helper()
			testenv.Eventually(t, time.Minute, func() error { return s.metric(t, "projection_drifted_aggregates", want) })
		}
		wantMetric("1")
		if health := get(t, s.updaterURL+"/health/ready"); !strings.Contains(health, "rows verify") {
			t.Errorf("health does not report rows that differ: %s", health)
		}
		s.operate(t, allIsWell, "rows", "verify", "--repair")
		wantMetric("0")
	})
}

// get reads a page with any status.
func get(t *testing.T, url string) string {
	t.Helper()
	a, err := exchange(t.Context(), http.MethodGet, url, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(a.raw)
}

// metric checks the value of a metric of the updater.
func (s *system) metric(t *testing.T, name, want string) error {
	all := get(t, s.updaterURL+"/metrics")
	if !strings.Contains(all, "\n"+name+" "+want+"\n") {
		at := strings.Index(all, "\n"+name+" ")
		return fmt.Errorf("%s is not %s: %.80s", name, want, all[max(at, 0):])
	}
	return nil
}

// postedEvent returns a message event as stored in the journal.
func postedEvent(thread, user string, seqNr int, text string) string {
	return fmt.Sprintf(`{"type":"ThreadMessagePosted","id":%q,"aggregate_id":{"value":%q},"seq_nr":%d,"message":{"id":{"value":%q},"text":%q,"sender_id":{"value":%q}},`+
		`"executor_id":{"value":%q},"occurred_at":"2026-01-02T03:04:05.678901Z","tenant_code":"acme"}`,
		ulid.Make(), thread, seqNr, ulid.Make(), text, user, user)
}

// An unreadable event parks its thread. The thread continues after a retry once the event is repaired, or after an
// operator has skipped the event.
func TestAnOperatorLetsAParkedThreadGoOn(t *testing.T) {
	eachOwnSystem(t, func(t *testing.T, s *system) {
		ada, spoil := s.person("acme"), spoilerOf(t, s.store)
		created := ada.command(t, "/threads/create", fields{"name": "tea"})
		thread := created.text("thread_id")
		ada.view(t, thread, token(created))
		aid := "thread-" + thread
		s.operate(t, allIsWell, "dead-letters", "list")

		// Each projection that reads the event parks the thread, and must be retried or skipped separately.
		projections := []string{"read-model", "leave-on-close"}
		const unreadable = `{"type":"ThreadTeleported","id":"x"}`
		wantParked := func(seqNr int) {
			t.Helper()
			testenv.Eventually(t, 30*time.Second, func() error {
				listed, _, code := s.tryOperate(t, "dead-letters", "list")
				for _, projection := range projections {
					want := fmt.Sprintf("tenant: acme\n  aid: %s\n  projection: %s\n  seq_nr: %d\n", aid, projection, seqNr)
					if code != isWrong || !strings.Contains(listed, want) {
						return fmt.Errorf("exit code %d, %q is missing in:\n%s", code, want, listed)
					}
				}
				return nil
			})
		}
		spoil.addEvent(t, aid, 2, unreadable)
		wantParked(2)
		if shown := s.operate(t, isWrong, "dead-letters", "show", aid, "--tenant", "acme"); !strings.Contains(shown, "ThreadTeleported") {
			t.Errorf("the event is not shown:\n%s", shown)
		}
		if err := s.metric(t, "projection_parked_aggregates", "1"); err != nil {
			t.Error(err)
		}
		if health := get(t, s.updaterURL+"/health/ready"); !strings.Contains(health, "dead-letters list") {
			t.Errorf("health does not report parked aggregates: %s", health)
		}
		s.operate(t, isWrong, "dead-letters", "retry", aid, "--tenant", "acme") // the cause is not repaired
		spoil.setPayload(t, aid, 2, postedEvent(thread, ada.id, 2, "mended"))
		for _, projection := range projections {
			s.operate(t, allIsWell, "dead-letters", "retry", "--projection", projection)
		}
		if view := ada.view(t, thread, thread+":2"); len(view.Messages) != 1 || view.Messages[0].Text != "mended" {
			t.Errorf("after the retry: %+v", view)
		}

		spoil.addEvent(t, aid, 3, unreadable)
		wantParked(3)
		spoil.addEvent(t, aid, 4, postedEvent(thread, ada.id, 4, "behind it"))
		s.operate(t, 2, "dead-letters", "skip", aid, "--tenant", "acme")
		for _, projection := range projections {
			s.operate(t, allIsWell, "dead-letters", "skip", aid, "--tenant", "acme", "--projection", projection,
				"--reason", "written by a test", "--by", "grace")
		}
		if view := ada.view(t, thread, thread+":4"); len(view.Messages) != 2 || view.Messages[1].Text != "behind it" {
			t.Errorf("after the skip: %+v", view)
		}
		s.operate(t, allIsWell, "dead-letters", "list")
		if skipped := s.operate(t, allIsWell, "dead-letters", "list", "--skipped"); !strings.Contains(skipped, "written by a test") || !strings.Contains(skipped, "by: grace") {
			t.Errorf("the operator and the reason of the skip are not stored:\n%s", skipped)
		}
		s.operate(t, allIsWell, "rows", "verify")
		s.operate(t, allIsWell, "rows", "verify", aid, "--tenant", "acme", "--repair")
	})
}
