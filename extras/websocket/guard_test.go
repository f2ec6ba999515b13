// extra:chat

package websocket_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ws "github.com/coder/websocket"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/websocket"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
)

// guard admits everybody for a while.
type guard struct {
	held    atomic.Int64 // bytes
	refused []error      // why the caller may not stay, one after the other
}

func (g *guard) Enter(ask admission.Ask) (admission.Principal, error) {
	return admission.Principal{Tenant: ask.Tenant}, nil
}

func (g *guard) Next(context.Context) error { return nil }

func (g *guard) Stay(ctx context.Context) (context.Context, context.CancelFunc) {
	staying, end := context.WithCancelCause(ctx)
	if len(g.refused) > 0 {
		why := g.refused[0]
		g.refused = g.refused[1:]
		time.AfterFunc(50*time.Millisecond, func() { end(why) })
	}
	return staying, func() { end(nil) }
}

func (g *guard) Hold(n int) (release func(), err error) {
	g.held.Add(int64(n))
	return func() { g.held.Add(-int64(n)) }, nil
}

func (g *guard) around(endpoint *graphql.Handler, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		inner := websocket.Settings{}.Around(endpoint, log)(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inner.ServeHTTP(w, r.WithContext(admission.With(r.Context(), g)))
		})
	}
}

// A subscription and its document are in memory until it ends.
func TestTheMemoryOfASubscriptionIsHeld(t *testing.T) {
	db, g := readmodeltest.SQLite(t), &guard{}
	alice := readmodeltest.NewUser()
	chat := db.World(t, "").Thread("chat", alice)
	s := initialized(t, graphqltest.Serve(t, db, graphqltest.Settings{Around: g.around}))
	const length, least = 10_000, 10_000 + 4<<10
	s.subscribe(t, "1", graphqltest.Follow(chat, alice)+" #"+strings.Repeat("x", length))
	if event, got := s.Take(t); event != graphqltest.EventNext || got.Code() != "" || g.held.Load() < least {
		t.Errorf("%s %q, and %d bytes are held", event, got.Code(), g.held.Load())
	}
	s.send(t, protocolMessage{ID: "1", Type: "complete"})
	testenv.Eventually(t, 10*time.Second, func() error {
		if held := g.held.Load(); held != 0 {
			return fmt.Errorf("%d bytes are held", held)
		}
		return nil
	})
}

// A message that is not short is held while it arrives.
func TestAMessageThatArrivesIsHeld(t *testing.T) {
	g := &guard{}
	s := initialized(t, graphqltest.Serve(t, readmodeltest.SQLite(t), graphqltest.Settings{Around: g.around}))
	begun, err := s.conn.Writer(t.Context(), ws.MessageText)
	if err == nil {
		_, err = begun.Write([]byte(`{"type":"ping","payload":{"long":"` + strings.Repeat("x", 10_000)))
	}
	if err != nil {
		t.Fatal(err)
	}
	held := func(least, most int64) error {
		if held := g.held.Load(); held < least || held > most {
			return fmt.Errorf("%d bytes are held", held)
		}
		return nil
	}
	testenv.Eventually(t, 10*time.Second, func() error { return held(64<<10, 64<<10) })
	if _, err = begun.Write([]byte(`"}}`)); err == nil {
		err = begun.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, func() error { return held(0, 0) })
}

// Who may not stay for some time, as a suspended tenant, is still known by its token, which then expires.
func TestATokenExpiresAfterARefusal(t *testing.T) {
	g := &guard{refused: []error{admission.Forbidden("not now"), &admission.Refusal{Status: http.StatusUnauthorized, Code: "unauthenticated", Detail: "it has expired"}}}
	s := initialized(t, graphqltest.Serve(t, readmodeltest.SQLite(t), graphqltest.Settings{Around: g.around}))
	s.wantClose(t, "after its token", 4403, "it has expired")
}
