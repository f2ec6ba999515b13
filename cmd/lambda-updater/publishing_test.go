// extra:whole

package main

import (
	"context"
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
	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/lambdatest"
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
	user := newID[ident.UserAccount]()
	broker.refusing = "account-" + user.String()
	w.account(t, user, account.Register{Name: writing.RecordedName("x")})
	w.invoke(t, []byte(scheduled))
	ctx, stop := context.WithCancel(t.Context())
	calls, mu := 0, sync.Mutex{}
	mapping := (&lambdatest.Mapping{
		Invoke: w.function.Invoke, BatchSize: 50, Window: 20 * time.Millisecond, Factor: 10, Bisect: true, Retries: -1, Pause: 20 * time.Millisecond,
		Faulty: func(batch []lambdatest.Record) ([]lambdatest.Record, bool) {
			mu.Lock()
			defer mu.Unlock()
			calls++
			return batch, calls%10 == 0
		},
	}).Start(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		if err := lambdatest.Follow(ctx, testenv.DynamoDBConfig(t), w.journal, 4, mapping.Feed); ctx.Err() == nil {
			t.Errorf("the stream: %v", err)
		}
	})
	defer following.Wait()
	defer mapping.Wait()
	defer stop()
	const kills = 4
	killed := 0
	following.Go(func() {
		for es.Wait(ctx, 300*time.Millisecond) == nil && killed < kills {
			end := w.function.Kill
			if killed == kills-1 {
				end = w.function.Stop
			}
			if end(killed) {
				killed++
			}
		}
	})
	admin := newID[ident.UserAccount]()
	for range 12 {
		w.posts(t, admin, 25)
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
	stop()
	mapping.Wait()
	following.Wait()
	var parked, rows int
	if err := w.db.QueryRowContext(t.Context(), `SELECT (SELECT COUNT(*) FROM projection_positions WHERE projection = 'publisher' AND parked <> 0),
		(SELECT COUNT(*) FROM threads)`).Scan(&parked, &rows); err != nil || parked != 1 || rows != 0 {
		t.Errorf("%d aggregates are parked, want that of the refused event; there are %d rows, want none: %v", parked, rows, err)
	}
	if len(broker.faults) > 0 || killed < kills {
		t.Errorf("after %d kills: %q", killed, broker.faults)
	}
	t.Logf("%d answers, %d repeats, %d kills", broker.answers, broker.repeats, killed)
}
