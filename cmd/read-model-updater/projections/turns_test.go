// extra:publishing

package projections

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/extras/publishing"
	"example.com/threads/extras/publishing/webhook"
	"example.com/threads/infrastructure/config"
	"example.com/threads/tests/sqlitetest"
)

// An updater that loses the turn and gets it again must work again, also when it publishes.
func TestATurnComesBack(t *testing.T) {
	broker := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer broker.Close()
	url, db := sqlitetest.New(t, system.Schemas()...)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	const wanted = 3
	count := 0
	var end context.CancelFunc // of a turn, when its source begins
	turns := atBegin(func() {
		if count++; count == wanted {
			stop()
		}
		end()
	})
	turns.Turn = func(ctx context.Context) (context.Context, error) {
		ctx, end = context.WithCancel(ctx)
		return ctx, nil
	}
	log := slog.New(slog.DiscardHandler)
	env := map[string]string{"PUBLISH_URL": broker.URL}
	settings := publishing.ReadSettings(config.NewReader(func(name string) string { return env[name] }), webhook.Kind)
	publisher := publishing.Consumer(settings, nil, log)
	if err := newUpdater(t, url, db, log, turns, publisher).Run(ctx); err != nil || count != wanted {
		t.Errorf("%d turns, %v", count, err)
	}
}
