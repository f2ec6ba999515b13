package updater

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/infrastructure/config"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/projection"
)

// Whether the updater rebuilds the read model by itself; see REBUILD.
const (
	RebuildManual = "manual"
	RebuildAuto   = "auto"
)

// ReadRebuild reads REBUILD, for programs whose default is the first of the choices.
func ReadRebuild(r *config.Reader, choices ...string) (auto bool) {
	return r.OneOf("REBUILD", "auto: rows that another version of the program made, or that are ahead of a restored event store, are made anew "+
		"by themselves; manual: /health/ready says so, and threadctl does it", choices...) == RebuildAuto
}

const (
	rebuildLook    = time.Second
	rebuildAgain   = time.Minute      // after one that failed
	rebuildSilent  = 10 * time.Second // one that has said nothing for so long was interrupted
	rebuildWorkers = 4
	fileWorkers    = 1 // a SQLite file takes one transaction at a time
)

// keeper sees whether the rows have to be made anew, and does so where it is told to.
type keeper struct {
	follower *follower
	sets     *projectionstore.RowSets
	rebuild  *projection.Rebuild
	live     *projection.Projector
	store    *projectionstore.Store

	asked    atomic.Bool              // an operator wants the rows made anew
	outdated atomic.Pointer[[]string] // aggregate types
	seen     string                   // the latest set at the last look, and whether it was live
	failed   time.Time                // when a rebuild failed last
}

// newKeeper puts together what a turn needs.
func (f *follower) newKeeper(databases Databases, store *projectionstore.Store, live *projection.Projector) (*keeper, error) {
	journal, err := stream.NewWholeJournalReader(databases.Store.Gateway)
	if err != nil {
		return nil, err
	}
	sets := projectionstore.NewRowSets(store, chatrows.Tables())
	options := projection.RebuildOptions{Logger: f.ports.Log, Workers: Workers(databases.ReadModel)}
	return &keeper{
		follower: f, sets: sets, live: live, store: store,
		rebuild: projection.NewRebuild(sets, store, journal, options, chatrows.Handlers()...),
	}, nil
}

// Workers is how many transactions of a rebuild are worth while at once.
func Workers(readModel *sqlx.DB) int {
	if readModel.DriverName() == "sqlite" {
		return fileWorkers
	}
	return rebuildWorkers
}

// run looks after the rows until ctx ends.
func (k *keeper) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := k.look(ctx); err != nil && ctx.Err() == nil {
			k.failed = time.Now()
			k.follower.ports.Log.ErrorContext(ctx, "the rows could not be made anew; tried again in a while", "error", err, "pause", rebuildAgain)
		}
		stream.Pause(ctx, rebuildLook)
	}
}

// storeVersions returns once the versions of the handlers are known to the database, or ctx ends.
func (k *keeper) storeVersions(ctx context.Context) {
	for {
		outdated, err := projection.Outdated(ctx, k.sets, k.store, chatrows.Handlers())
		if err == nil {
			k.outdated.Store(&outdated)
			return
		}
		if !stream.Pause(ctx, rebuildLook) {
			return
		}
	}
}

func (k *keeper) look(ctx context.Context) error {
	state, err := k.sets.State(ctx)
	if err != nil {
		return nil //nolint:nilerr // the checks of the database tell
	}
	outdated, err := projection.Outdated(ctx, k.sets, k.store, chatrows.Handlers())
	if err != nil {
		return nil //nolint:nilerr // the same
	}
	k.outdated.Store(&outdated)
	if live := fmt.Sprint(state.Live, state.Set); live != k.seen {
		if k.seen != "" {
			k.live.ForgetDrift()
		}
		k.seen = live
	}
	asked := k.asked.Swap(false)
	if !asked && (!k.follower.settings.RebuildAuto || time.Since(k.failed) < rebuildAgain) {
		return nil
	}
	switch interrupted := !state.Over(); {
	case interrupted && time.Since(state.UpdatedAt) < rebuildSilent:
		return nil // another process is at it
	case interrupted:
		err = k.rebuild.Resume(ctx)
	case asked || len(outdated) > 0 || k.live.Drift().Ahead > 0:
		err = k.rebuild.Start(ctx)
	}
	if errors.Is(err, projection.ErrRebuilding) {
		return nil
	}
	return err
}

// outdatedTypes are those whose rows another version of their handler made.
func (k *keeper) outdatedTypes() []string {
	if found := k.outdated.Load(); found != nil {
		return *found
	}
	return nil
}

// reasons are why the updater is not ready, and what operators should know beside.
func (k *keeper) reasons(auto bool) (versions, journal, warning string) {
	todo := "run `threadctl rows rebuild`, or set REBUILD=auto"
	if auto {
		todo = "they are being made anew (REBUILD=auto)"
	}
	if outdated := k.outdatedTypes(); len(outdated) > 0 {
		found := fmt.Sprintf("the rows of %s were made by another version of this program: %s", strings.Join(outdated, ", "), todo)
		if auto {
			warning = found
		} else {
			versions = found
		}
	}
	if drift := k.live.Drift(); drift.Ahead > 0 {
		journal = fmt.Sprintf("the rows of %d aggregates or more are ahead of the journal (such as %s), as after an event store was restored to an earlier moment: %s",
			drift.Ahead, drift.First, todo)
	}
	return versions, journal, warning
}

// Rebuilding is how far a rebuild is, for /health/ready and for who watches the program.
type Rebuilding struct {
	Phase       string  `json:"phase"`
	Events      uint64  `json:"events"`
	EventsTotal uint64  `json:"events_total"` // as far as is known
	SecondsLeft float64 `json:"seconds_left"` // 0 where there is no telling
	Failure     string  `json:"failure,omitempty"`
}

// rebuilding is the rebuild that is not over; nil: there is none.
func (s *shared) rebuilding(ctx context.Context) (*Rebuilding, error) {
	state, err := s.sets.State(ctx)
	if err != nil || state.Over() {
		return nil, err
	}
	return &Rebuilding{
		Phase: state.Phase.String(), Events: state.Done, EventsTotal: state.Total, Failure: state.Failure,
		SecondsLeft: state.Left(state.UpdatedAt, state.StartedAt, 0).Seconds(),
	}, nil
}
