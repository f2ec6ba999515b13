package updater

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es/rowstore"
	"example.com/threads/es/stream"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

// Silence is how long a database server waits for a silent updater before it ends its transaction, so that another
// updater can take over from a paused one.
const Silence = 3 * time.Second

const turnAgain = 500 * time.Millisecond // after an error

// turnsState is what all turns share; it answers health checks also while the updater stands by.
type turnsState struct {
	db    *sqlx.DB
	store *rowstore.Store
	sets  *rowstore.RowSets
	pace  pace
}

// takeTurns projects whenever this process has the turn, until ctx ends.
func (f *journalFollower) takeTurns(ctx context.Context, databases Databases) error {
	store, err := rowstore.New(databases.ReadModel, chatrows.Projection)
	if err != nil {
		return err
	}
	f.shared.Store(&turnsState{db: databases.ReadModel, store: store, sets: rowstore.NewRowSets(store, chatrows.Tables())})
	host, _ := os.Hostname() // for people only
	holder := fmt.Sprintf("%s, process %d", host, os.Getpid())
	for ctx.Err() == nil {
		turn, err := store.AwaitTurn(ctx, holder)
		if err != nil {
			if ctx.Err() == nil {
				f.ports.Log.WarnContext(ctx, "waiting for the turn to write the read model", "error", err)
				stream.Pause(ctx, turnAgain)
			}
			continue
		}
		f.ports.Log.InfoContext(ctx, "writing the read model", "term", turn.Term)
		err = f.work(ctx, databases, turn)
		turn.GiveUp()
		if err != nil {
			return err
		}
		if ctx.Err() == nil {
			f.ports.Log.WarnContext(ctx, "standing by: the turn to write the read model is over", "term", turn.Term, "reason", context.Cause(turn.Lost))
		}
	}
	return nil
}
