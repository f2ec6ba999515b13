// extra:whole

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/writing"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/kit"
)

// hook is a webhook: a broker that accepts events, but for those of some aggregates, and is down for a while.
type hook struct {
	*httptest.Server

	mu       sync.Mutex
	next     map[string]uint64 // what each aggregate's first occurrences go on with
	repeats  int
	faults   []string
	answers  int
	refusing string // an aggregate
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{next: map[string]uint64{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var event struct {
			Subject string
			SeqNr   uint64
		}
		err := json.NewDecoder(r.Body).Decode(&event)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.answers++
		switch due := h.next[event.Subject] + 1; {
		case err != nil || event.Subject == "":
			h.faults = append(h.faults, fmt.Sprintf("%+v, %v", event, err))
		case event.Subject == h.refusing:
			w.WriteHeader(http.StatusUnprocessableEntity)
		case h.answers > 100 && h.answers < 120: // an outage
			w.WriteHeader(http.StatusBadGateway)
		case event.SeqNr < due:
			h.repeats++
		case event.SeqNr > due:
			h.faults = append(h.faults, fmt.Sprintf("%s: event %d before %d", event.Subject, event.SeqNr, due))
		default:
			h.next[event.Subject] = due
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// The function publishes every event, in order within its aggregate, while environments are killed and stopped, batches
// are delivered twice and in many lanes, the broker is down for a while, and refuses the events of one aggregate.
func TestPublishing(t *testing.T) {
	w := newWorld(t, 5*time.Second, 4).migrate(t)
	broker := newHook(t)
	w.function.Env = append(w.function.Env, "PUBLISH_URL="+broker.URL)
	user := kit.NewID[ident.UserAccount]()
	broker.refusing = "account-" + user.String()
	w.account(t, user, account.Register{Name: writing.RecordedName("x")})
	w.invoke(t, []byte(scheduled))
	const threads, posts, kills = 12, 25, 5
	faulty := w.underFaults(t, 4, 50, kills, threads*posts/kills)
	defer faulty.end()
	admin := kit.NewID[ident.UserAccount]()
	for i := 0; i < threads || faulty.killed.Load() < kills; i++ {
		w.posts(t, admin, posts)
	}
	testenv.Eventually(t, 2*time.Minute, func() error {
		broker.mu.Lock()
		defer broker.mu.Unlock()
		for key := range w.keys {
			head, err := w.gateway.Head(t.Context(), key)
			if err != nil {
				return err
			}
			if published := broker.next[key.String()]; published != head.Version && key.String() != broker.refusing {
				return fmt.Errorf("%d of %d events of %s are published", published, head.Version, key)
			}
		}
		return nil
	})
	faulty.end()
	var parked, rows int
	if err := w.db.QueryRowContext(t.Context(), `SELECT (SELECT COUNT(*) FROM projection_positions WHERE projection = 'publisher' AND parked <> 0),
		(SELECT COUNT(*) FROM threads)`).Scan(&parked, &rows); err != nil || parked != 1 || rows != 0 {
		t.Errorf("%d aggregates are parked, want that of the refused event; there are %d rows, want none: %v", parked, rows, err)
	}
	if killed := faulty.killed.Load(); len(broker.faults) > 0 || killed < kills {
		t.Errorf("after %d kills: %q", killed, broker.faults)
	}
	t.Logf("%d answers, %d repeats, %d kills", broker.answers, broker.repeats, faulty.killed.Load())
}
