package sqlstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
)

func TestServerThatDoesNotAnswerIsUnavailable(t *testing.T) {
	dsn, network := throughProxy(t, testenv.MySQL(t))
	db := open(t, dsn)
	gateway, queue := newGateway(t, db), newQueue(t, db)
	w := mustAppend(t, gateway, write(newID(), 0, 1))

	// The answer to the COMMIT is lost and the server is down: the outcome is unknown.
	lost := write(w.ID, 1, 1)
	network.loseNextCommit(func() { network.cut(true) })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	appendErr := gateway.Append(ctx, lost)
	_, headErr := gateway.Head(ctx, w.ID)
	_, _, receiptErr := gateway.Receipt(ctx, "", "any")
	_, queueErr := queue.Read(ctx, 0, "", 10)
	for name, err := range map[string]error{"append": appendErr, "head": headErr, "receipt": receiptErr, "queue": queueErr} {
		if !errors.Is(err, es.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}

	network.cut(false)
	mustAppend(t, gateway, lost) // sent again, it is recognised as committed
	if head, err := gateway.Head(t.Context(), w.ID); err != nil || head.Version != 2 {
		t.Errorf("%+v, %v", head, err)
	}
}
