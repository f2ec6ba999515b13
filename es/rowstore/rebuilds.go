package rowstore

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// What a [Rebuild] stores and reads beside the rows.

// silentFor is how long a rebuild has no progress before it counts as interrupted.
const silentFor = 10 * time.Second

// farAhead is how far a stored time may be ahead of this process's clock. Beyond that it was stored by a clock that was
// wrong: nothing may wait until then.
const farAhead = time.Hour

// RebuildState returns the progress of the latest rebuild; the zero value: there was none.
func (s *Store) RebuildState(ctx context.Context) (found RebuildState, err error) {
	err = rebuilds.Load(ctx, s.db, [][]string{{s.projection}}, "", func(row RebuildState) { found = row })
	if err != nil {
		return found, s.Explain("read how far the rebuild is", err)
	}
	if !found.Over() {
		since := time.Since(found.UpdatedAt)
		found.Interrupted = since >= silentFor || since < -farAhead
		if !found.Interrupted && 0 < found.Done && found.Done < found.Total {
			found.SecondsLeft = found.UpdatedAt.Sub(found.StartedAt).Seconds() / float64(found.Done) * float64(found.Total-found.Done)
		}
	}
	live, err := setOf(ctx, s.db, s.projection)
	found.Live = found.Set != "" && live == found.Set
	return found, s.Explain("read which rows are live", err)
}

// beginRebuild stores a rebuild that has begun, after the one before it, and names its set.
func (s *Store) beginRebuild(ctx context.Context, before RebuildState, handlers string) (state RebuildState, err error) {
	state = RebuildState{
		Projection: s.projection, Generation: before.Generation + 1, Set: fmt.Sprint(s.projection, setSeparator, before.Generation+1),
		Handlers: handlers, Phase: phaseReading, StartedAt: time.Now(), UpdatedAt: time.Now(),
	}
	if state.Total, err = s.events(ctx); err == nil {
		err = s.Explain("begin a rebuild", rebuilds.Upsert(ctx, s.db, s.dialect, []RebuildState{state}))
	}
	return state, err
}

// saveRebuild stores the progress of a rebuild and reports whether its end was requested.
func (s *Store) saveRebuild(ctx context.Context, state RebuildState) (cancelled bool, err error) {
	_, err = s.db.ExecContext(ctx, "UPDATE projection_rebuilds SET phase = ?, events_done = ?, events_total = ?, failure = ?, updated_at = ? "+
		"WHERE projection = ? AND set_name = ? AND phase NOT IN ('done', 'cancelled')",
		state.Phase, state.Done, state.Total, Cut(state.Failure, reasonKept), state.UpdatedAt.UnixMicro(), s.projection, state.Set)
	if err == nil {
		err = s.db.GetContext(ctx, &cancelled, "SELECT cancelled FROM projection_rebuilds WHERE projection = ? AND set_name = ?", s.projection, state.Set)
	}
	return cancelled, s.Explain("store how far the rebuild is", err)
}

// events returns the number of events in the rows, by their positions.
func (s *Store) events(ctx context.Context) (events uint64, err error) {
	err = s.db.GetContext(ctx, &events,
		"SELECT COALESCE(SUM(version), 0) FROM projection_positions WHERE "+ofSet, s.set()...)
	return events, s.Explain("count the events in the rows", err)
}

// others returns the names of the other projections in the database.
func (s *Store) others(ctx context.Context) (names []string, err error) {
	err = s.db.SelectContext(ctx, &names, "SELECT DISTINCT projection FROM projection_positions")
	for i, name := range names {
		names[i], _, _ = strings.Cut(name, setSeparator)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == s.projection })
	return names, s.Explain("list the projections", err)
}

const aheadPage = 500

// ahead yields, page by page, the live positions of a projection that are ahead of those of the store's own set. It
// ends after an error.
func (s *Store) ahead(ctx context.Context, name string) iter.Seq2[[]positionRow, error] {
	return func(yield func([]positionRow, error) bool) {
		for after, more := (es.AggregateID{}), true; more; {
			var page []positionRow
			beyond, args := s.beyond("l.", after)
			err := positions.Query(ctx, s.reader, func(row positionRow) { page = append(page, row) },
				`SELECT `+positions.List("l")+` FROM projection_positions l
				LEFT JOIN projection_positions n ON n.`+ofSet+` AND n.tenant_code = l.tenant_code AND n.aggregate_type = l.aggregate_type AND n.aggregate_id = l.aggregate_id
				WHERE l.`+ofSet+` AND l.version > COALESCE(n.version, 0) AND `+beyond,
				slices.Concat(s.set(), []any{name, name}, args, []any{aheadPage})...)
			if more = len(page) == aheadPage; more {
				after = page[aheadPage-1].Key
			}
			if !yield(page, s.Explain("compare positions", err)) || err != nil {
				return
			}
		}
	}
}

// noneParked returns an error if an aggregate is parked in the set in the making, and not, or later, in the live one,
// or if its event was skipped there meanwhile.
func (s *Store) noneParked(ctx context.Context) error {
	var parked projection.DeadLetter
	err := deadLetters.Query(ctx, s.reader, func(letter projection.DeadLetter) { parked = letter }, `SELECT `+deadLetters.List("n")+` FROM dead_letters n
		LEFT JOIN dead_letters l ON l.`+ofSet+` AND l.tenant_code = n.tenant_code AND l.aggregate_type = n.aggregate_type AND l.aggregate_id = n.aggregate_id
		WHERE n.projection = ? AND (l.projection IS NULL OR l.seq_nr > n.seq_nr OR EXISTS (SELECT 1 FROM skipped_events k
			WHERE k.projection = ? AND k.tenant_code = n.tenant_code AND k.aggregate_type = n.aggregate_type AND k.aggregate_id = n.aggregate_id
			AND k.seq_nr = n.seq_nr)) LIMIT 1`, s.projection, s.projection, s.next, s.projection)
	if err != nil || parked.SeqNr == 0 {
		return s.Explain("compare dead letters", err)
	}
	return fmt.Errorf("not switched: the new rows of %s stop at event %d, and the live ones do not: %s; mend what a journal check finds, or the "+
		"handler, and resume the rebuild, or cancel it", parked.Key, parked.SeqNr, parked.Reason)
}

// Outdated returns the types whose rows were made by another version of their handler. It stores the versions of new
// types: a projector applies their events without a rebuild.
func (r *Rebuild) Outdated(ctx context.Context) (outdated []string, err error) {
	text := ""
	err = sets.Load(ctx, r.Store.db, [][]string{{r.Store.projection}}, "", func(row setRow) { text = row.Handlers })
	if err != nil {
		return nil, r.Store.Explain("read which handlers made the rows", err)
	}
	made := strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	known := slices.Clone(made) // also of types that only another program knows
	for _, now := range versionsOf(r.Handlers) {
		name, _, _ := strings.Cut(now, "=")
		switch i := slices.IndexFunc(made, func(before string) bool { return strings.HasPrefix(before, name+"=") }); {
		case i < 0:
			known = append(known, now)
		case made[i] != now:
			outdated = append(outdated, name)
		}
	}
	slices.Sort(known)
	if all := strings.Join(known, ","); all != text {
		err = r.Store.Change(ctx, func(ctx context.Context, begun projection.Tx) error {
			tx := SQL(begun)
			return tx.Explain("store which handlers made the rows", sets.Upsert(ctx, tx, tx.Dialect, []setRow{{r.Store.projection, tx.set, all}}))
		})
	}
	return outdated, err
}

// versionsOf returns the versions of handlers as texts, sorted.
func versionsOf(handlers []projection.Handler) []string {
	versions := make([]string, len(handlers))
	for i, handler := range handlers {
		version := 1
		if versioned, says := handler.(projection.Verifiable); says {
			version = versioned.RowsVersion()
		}
		versions[i] = fmt.Sprintf("%s=%d", handler.Type(), version)
	}
	slices.Sort(versions)
	return versions
}
