package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

const (
	rebuildLook  = time.Second
	rebuildAgain = time.Minute // delay after a failed rebuild

	inTheLog = "the log says why" // in place of a reason with texts of rows, or of a driver
)

// rowKeeper checks whether the rows have to be rebuilt, and rebuilds them if it may.
type rowKeeper struct {
	options *Options
	rebuild *rowstore.Rebuild
	live    *projection.Projector

	asked    atomic.Bool              // an operator requested a rebuild
	waited   bool                     // at the last check, because another process rebuilt
	outdated atomic.Pointer[[]string] // aggregate types whose rows were made by another version of their handler
	seen     string                   // the latest set at the last check, and whether it was live
	failure  atomic.Pointer[rebuildFailure]
}

// rebuildFailure is why the latest rebuild failed, as it may be told to anybody, and when; nil: it did not.
type rebuildFailure struct {
	reason string
	at     time.Time
}

func (t *Turn) newKeeper() (*rowKeeper, error) {
	options := &t.updater.options
	journal := wrapped(t.databases.Journal, options.Faults.Rebuild)
	rebuild, err := options.ReadModel.Rebuild(t.databases.Rows, journal, t.term, options.Log)
	k := &rowKeeper{options: options, live: t.model.projector, rebuild: rebuild}
	k.outdated.Store(new([]string))
	return k, err
}

// Rebuild returns what builds the rows in a database anew from a journal. A term of 0 is not checked.
func (m ReadModel) Rebuild(rows *sqlx.DB, journal es.Journal, term uint64, log *slog.Logger) (*rowstore.Rebuild, error) {
	store, err := rowstore.New(rows, m.Name)
	if err != nil {
		return nil, err
	}
	return &rowstore.Rebuild{
		Store: store.InTerm(term), Tables: m.Tables, Journal: journal, Handlers: m.Handlers, Tenants: m.Tenants, Logger: log,
	}, nil
}

// run checks the rows until ctx ends.
func (k *rowKeeper) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := k.look(ctx)
		if errors.Is(err, rowstore.ErrCancelled) && !k.options.RebuildAuto { // as an operator wanted
			k.options.Log.InfoContext(ctx, "the rebuild was cancelled")
			err = nil
		}
		if err != nil && ctx.Err() == nil {
			k.failure.Store(&rebuildFailure{cmp.Or(es.PublicReason(err), inTheLog), time.Now()})
			message := "the rebuild failed: ask for it again"
			if k.options.RebuildAuto {
				message = "the rebuild failed and will be retried in " + rebuildAgain.String()
			}
			k.options.Log.ErrorContext(ctx, message, "error", err)
		}
		polling.Pause(ctx, rebuildLook)
	}
}

// compareVersions compares the handlers' versions with those of the rows, and makes new types known to the database.
func (k *rowKeeper) compareVersions(ctx context.Context) error {
	outdated, err := k.rebuild.Outdated(ctx)
	if err == nil {
		k.outdated.Store(&outdated)
	}
	return err
}

func (k *rowKeeper) look(ctx context.Context) error {
	state, err := k.rebuild.Store.RebuildState(ctx)
	if err == nil {
		err = k.compareVersions(ctx)
	}
	if err != nil {
		return nil //nolint:nilerr // the checks of the database report it
	}
	if live := fmt.Sprint(state.Live, state.Set); live != k.seen {
		if k.seen != "" {
			k.live.ForgetDrift()
		}
		k.seen = live
	}
	asked, failure := k.asked.Swap(false), k.failure.Load()
	if !k.options.RebuildAuto && failure != nil && (asked || state.Over() && state.UpdatedAt.After(failure.at)) {
		k.failure.Store(nil) // it is tried again, or another one was made or cancelled since
	}
	if asked && k.waited && state.Over() {
		asked = false // another process has done it
	}
	k.waited = false
	if !asked && (!k.options.RebuildAuto || failure != nil && time.Since(failure.at) < rebuildAgain) {
		return nil
	}
	switch {
	case !state.Over() && !state.Interrupted: // another process rebuilds, or has just ended in the middle of that
		if k.waited = asked; asked {
			k.asked.Store(true)
		}
		return nil
	case state.Interrupted:
		err = k.rebuild.Resume(ctx)
	case asked || len(*k.outdated.Load()) > 0 || k.live.Drift().Ahead > 0:
		err = k.rebuild.Start(ctx)
	}
	if errors.Is(err, rowstore.ErrRebuilding) {
		if asked {
			k.asked.Store(true)
		}
		return nil
	}
	if err == nil {
		k.failure.Store(nil)
	}
	return err
}

// reasons returns why the updater is not ready, and warnings for operators.
func (k *rowKeeper) reasons() (versions, journal, warning string) {
	todo, auto, failure := k.options.Advice.Rebuild, k.options.RebuildAuto, k.failure.Load()
	switch {
	case auto && failure != nil:
		todo = "the automatic rebuild fails: " + failure.reason
	case auto:
		todo = "they are being rebuilt automatically"
	}
	if outdated := *k.outdated.Load(); len(outdated) > 0 {
		found := fmt.Sprintf("the rows of %s were made by another version of this program: %s", strings.Join(outdated, ", "), todo)
		if auto && failure == nil {
			warning = found
		} else {
			versions = found
		}
	}
	if drift := k.live.Drift(); drift.Ahead > 0 {
		journal = fmt.Sprintf("the rows of %d aggregates or more are ahead of the journal (such as %s), as after an event store was restored to an earlier time: %s",
			drift.Ahead, drift.First, todo)
	}
	if !auto && failure != nil && warning == "" {
		warning = "the rebuild that was asked for has failed: " + failure.reason
	}
	return versions, journal, warning
}

// warning tells operators of an unfinished rebuild.
func warning(r rowstore.RebuildState, resume string) string {
	switch {
	case r.Failure != "":
		return "a rebuild beside the live rows has stopped: " + r.Failure
	case r.Interrupted:
		return "a rebuild beside the live rows was interrupted: " + resume
	}
	return fmt.Sprintf("a rebuild is running beside the live rows: %s, %d of %d events", r.Phase, r.Done, r.Total)
}
