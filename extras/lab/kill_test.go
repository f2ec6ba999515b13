package lab_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/extras/lab"
	"example.com/threads/tests/readmodeltest"
)

var order = es.AggregateID{Type: "order", ID: "01H42KBHCW1BZG504J4ZXKA2F2"}

// stuck is a handler of orders. Its first transaction waits until its context ends, and then tries to commit.
type stuck struct {
	once   *sync.Once
	inHand chan struct{} // closed when the first transaction waits
}

func (stuck) Type() string { return "order" }

func (stuck) DecodeEvent([]byte) (projection.Event, error) {
	return projection.Event{Envelope: es.Envelope{AggregateType: order.Type, AggregateID: order.ID, SeqNr: 1}, Event: "ordered"}, nil
}

func (s stuck) Load(ctx context.Context, _ projection.Tx, _ []projection.Event) (projection.Fold, error) {
	s.once.Do(func() {
		close(s.inHand)
		<-ctx.Done()
	})
	return fold{}, nil
}

type fold struct{}

func (fold) Apply(projection.Event) error              { return nil }
func (fold) Save(context.Context, projection.Tx) error { return nil }

// set changes the state of the lab, like its page.
func set(t *testing.T, l *lab.Lab, state string) {
	t.Helper()
	answer := httptest.NewRecorder()
	l.Handler("", nil).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/state", strings.NewReader(state)))
	if answer.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", state, answer.Code, answer.Body)
	}
}

// A kill rolls back the current transaction: neither rows nor position are stored. A new projection continues from the
// stored position.
func TestAKillRollsTheBatchInHandBack(t *testing.T) {
	store, err := rowstore.New(readmodeltest.SQLite(t).DB, "orders")
	if err != nil {
		t.Fatal(err)
	}
	batch := projection.Batch{
		Records:    []projection.Record{{Key: order, SeqNr: 1}},
		Checkpoint: projection.Checkpoint{Source: "journal", Shard: "0", Position: "1"},
	}
	l, handler := lab.New(), stuck{new(sync.Once), make(chan struct{})}
	project := func() (projection.Outcome, error) {
		turn, err := l.Faults().Turn(t.Context())
		if err != nil {
			return projection.Outcome{}, err
		}
		return l.Faults().Projector(projection.New(store, nil, projection.Options{}, handler)).Project(context.WithoutCancel(turn), batch)
	}

	failed := make(chan error)
	go func() {
		_, err := project()
		failed <- err
	}()
	select {
	case <-handler.inHand:
	case err := <-failed:
		t.Fatalf("before the kill: %v", err)
	}
	set(t, l, `{"dead": true}`)
	if err := <-failed; err == nil {
		t.Fatal("the batch was stored")
	}
	stored, err := store.Checkpoints(t.Context(), "journal")
	versions, err2 := store.Versions(t.Context(), []es.AggregateID{order})
	if len(stored) > 0 || len(versions) > 0 || err != nil || err2 != nil {
		t.Fatalf("checkpoints %v, versions %v: %v, %v", stored, versions, err, err2)
	}

	set(t, l, `{"dead": false}`)
	if outcome, err := project(); outcome.Applied != 1 || err != nil {
		t.Errorf("started again: %+v, %v", outcome, err)
	}
	if stored, err = store.Checkpoints(t.Context(), "journal"); len(stored) != 1 || err != nil {
		t.Errorf("started again: checkpoints %v, %v", stored, err)
	}
}
