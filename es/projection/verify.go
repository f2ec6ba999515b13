package projection

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/es"
)

// Verifiable is a [Handler] whose rows can be compared with the journal and rebuilt from it.
type Verifiable interface {
	Handler
	// RowsVersion returns the version of the rows. Another version makes different rows from the same events, so the
	// existing rows have to be rebuilt. Rows of a handler that is not Verifiable have version 1.
	RowsVersion() int
	// Shadow returns, in memory, the rows that an aggregate creates after event after, as far as they fit.
	Shadow(key es.AggregateID, after uint64) Shadow
	// Clear deletes all rows of an aggregate, in the transaction tx. Errors are those of [Store].
	Clear(ctx context.Context, tx Tx, key es.AggregateID) error
}

// Shadow is the expected rows of one aggregate, made from its events alone. It is saved where rows are missing.
type Shadow interface {
	Fold
	// Compare returns how the rows in the transaction tx differ. Errors are those of [Store].
	Compare(ctx context.Context, tx Tx, tell func(Difference)) error
	// Rest returns the event after which rows were created that did not fit; false: there are none.
	Rest() (after uint64, more bool)
}

// Difference is a row, or part of one, that differs from the journal.
type Difference struct {
	Key      es.AggregateID `json:"-"`
	Row      string         `json:"row"`  // such as a table and an id
	What     string         `json:"what"` // what differs
	Expected string         `json:"expected"`
	Found    string         `json:"found"`
}

// Verified is the result of [Projector.Verify] for an aggregate.
type Verified struct {
	Differences []Difference // the first maxDifferences of them
	More        int          // number of further differences
	Behind      bool         // the rows lack the latest events; that alone is no difference
	// Contradicted: head and journal contradict each other, which is among the Differences; repair the head first.
	Contradicted bool
	Repaired     bool // by VerifyOrRepair: the Differences are from before

	ahead   bool   // the rows claim events that the journal lacks, which is among the Differences
	version uint64 // of the rows
}

// maxDifferences limits the differences reported for one aggregate.
const maxDifferences = 100

func (v *Verified) add(difference Difference) {
	if len(v.Differences) == maxDifferences {
		v.More++
		return
	}
	v.Differences = append(v.Differences, difference)
}

// Verify folds the events of an aggregate up to the rows' version and compares every row. It blocks no writer. It works
// piece by piece, in bounded memory. A panic of the handler is an error of this aggregate.
func (p *Projector) Verify(ctx context.Context, key es.AggregateID) (Verified, error) {
	handler, able := p.handlers[key.Type].(Verifiable)
	if !able {
		return Verified{}, fmt.Errorf("the rows of aggregate type %q can't be verified by this program", key.Type)
	}
	v := &verification{projector: p, key: key}
	for after, more := uint64(0), true; more && !v.unusable; after, more = v.shadow.Rest() {
		if err := v.run(ctx, handler, after); err != nil {
			return Verified{}, fmt.Errorf("verify the rows of %s: %w", key, err)
		}
	}
	return v.found, nil
}

// verification is the comparison of an aggregate's rows, piece by piece.
type verification struct {
	projector *Projector
	key       es.AggregateID
	shadow    Shadow
	skipped   map[AtVersion]string
	read      uint64 // the last event applied to the shadow
	unusable  bool   // the next event is in the rows and can no longer be applied: the expected rest is unknown
	found     Verified
}

func (v *verification) run(ctx context.Context, handler Verifiable, after uint64) (err error) {
	p := v.projector
	defer p.recovered(&err)
	v.shadow, v.read = handler.Shadow(v.key, after), 0
	versions, err := p.store.Versions(ctx, []es.AggregateID{v.key})
	if err != nil {
		return err
	}
	if v.skipped, err = p.store.Skipped(ctx); err != nil {
		return err
	}
	if err := v.readTo(ctx, versions[v.key]); err != nil {
		return err
	}
	before := v.found
	return p.retry(ctx, func() error {
		return p.store.View(ctx, func(ctx context.Context, tx Tx) error {
			if !v.unusable { // what an earlier attempt found unusable is told, and not read again
				v.found = before
			}
			positions, err := tx.Load(ctx, []es.AggregateID{v.key})
			if err != nil {
				return err
			}
			version := positions[v.key].Version
			v.found.version = version
			if v.read > version {
				return fmt.Errorf("%w: the rows went back", ErrTransient)
			}
			if err := v.readTo(ctx, version); err != nil { // events projected meanwhile
				return err
			}
			if v.unusable {
				return nil
			}
			if v.read < version {
				switch ahead, err := p.Ahead(ctx, AtVersion{Key: v.key, Version: version}); {
				case v.contradicted(err):
					return nil
				case err != nil:
					return err
				case !ahead:
					return fmt.Errorf("%w: the journal has grown", ErrTransient)
				}
				v.found.ahead = true
				v.tell(claim(AtVersion{v.key, version}, fmt.Sprintf("event %d", v.read)))
			}
			return v.shadow.Compare(ctx, tx, v.found.add)
		})
	})
}

// readTo applies the events up to version to the shadow, and looks for a later one. What can't be applied is told.
func (v *verification) readTo(ctx context.Context, version uint64) error {
	if v.unusable {
		return nil
	}
	v.found.Behind = false
	for record, err := range v.projector.eventsAfter(ctx, v.key, v.read) {
		switch {
		case v.contradicted(err):
			return nil
		case isUnreadable(err) && v.read >= version: // the rows lack it
			v.found.Behind = true
			return nil
		case isUnreadable(err):
			v.unusable = true
			v.tell(Difference{Key: v.key, Row: "the event store", What: "its events can't be read", Expected: "readable events", Found: err.Error()})
			return nil
		case err != nil:
			return err
		}
		if record.SeqNr > version {
			v.found.Behind = true
			return nil
		}
		event, err := v.projector.decode(record, v.skipped)
		if err == nil && event.Event != nil {
			err = v.apply(event)
		}
		if err != nil {
			v.unusable = true
			v.tell(Difference{
				Key: v.key, Row: fmt.Sprintf("event %d", record.SeqNr), What: "it is in the rows and can't be used any more",
				Expected: "an event that can be applied", Found: err.Error(),
			})
			return nil
		}
		v.read = record.SeqNr
	}
	return nil
}

// isUnreadable reports whether an error of the journal is of one aggregate alone: a damaged file of its archive, say.
func isUnreadable(err error) bool {
	return errors.Is(err, es.ErrDamaged) || err != nil && es.KindOf(err) == es.Internal
}

func (v *verification) apply(event Event) (err error) {
	defer v.projector.recovered(&err)
	return v.shadow.Apply(event)
}

// contradicted reports whether head and journal contradict each other. That is a difference, of this aggregate alone.
func (v *verification) contradicted(err error) bool {
	if es.KindOf(err) != es.Inconsistent {
		return false
	}
	v.unusable, v.found.Contradicted = true, true
	v.tell(contradiction(v.key, err))
	return true
}

// tell adds the difference that is outside of rows. It comes first.
func (v *verification) tell(d Difference) {
	v.found.Differences = append([]Difference{d}, v.found.Differences...)
}

func contradiction(key es.AggregateID, err error) Difference {
	return Difference{Key: key, Row: "the event store", What: "head and journal contradict each other", Expected: "that they agree", Found: err.Error()}
}

// claim is the difference of a position that is ahead of the journal.
func claim(position AtVersion, last string) Difference {
	return Difference{
		Key: position.Key, Row: "the position", What: "the rows claim events that the journal does not have",
		Expected: last, Found: fmt.Sprintf("event %d", position.Version),
	}
}

// Remake rebuilds the rows of an aggregate and its position from the journal, in one transaction. Skipped events stay
// left out; a parked aggregate stays parked. If an event that was in the rows can no longer be applied, or if head and
// journal contradict each other, Remake fails and changes nothing.
func (p *Projector) Remake(ctx context.Context, key es.AggregateID) error {
	handler, able := p.handlers[key.Type].(Verifiable)
	if !able {
		return fmt.Errorf("this program can't rebuild rows of aggregate type %q", key.Type)
	}
	v := &verification{projector: p, key: key}
	err := p.retry(ctx, func() (err error) {
		defer p.recovered(&err)
		return p.store.Change(ctx, func(ctx context.Context, tx Tx) error {
			positions, err := tx.Load(ctx, []es.AggregateID{key})
			if err == nil { // with the lock: no event of it is skipped from now on
				v.skipped, err = p.store.Skipped(ctx)
			}
			if err != nil {
				return err
			}
			if err := handler.Clear(ctx, tx, key); err != nil {
				return err
			}
			before := positions[key]
			for after, more := uint64(0), true; more; after, more = v.shadow.Rest() {
				v.shadow, v.read = handler.Shadow(key, after), 0
				// Later events are left to the projection, which handles events that can't be applied.
				if err := v.readTo(ctx, before.Version); err != nil {
					return err
				}
				if v.unusable {
					d := v.found.Differences[0]
					return fmt.Errorf("%s: %s: %s", d.Row, d.What, d.Found)
				}
				if err := v.shadow.Save(ctx, tx); err != nil {
					return err
				}
			}
			if v.read < before.Version {
				if _, err := p.Ahead(ctx, AtVersion{Key: key, Version: before.Version}); err != nil {
					return err
				}
			}
			moved := map[es.AggregateID]Position{key: {v.read, before.Parked}}
			return tx.Save(ctx, Changes{Positions: moved, At: p.options.Now()})
		})
	})
	if err != nil {
		return fmt.Errorf("rebuild the rows of %s: %w", key, err)
	}
	p.options.Notify([]AtVersion{{Key: key, Version: v.read}})
	return nil
}

// VerifyOrRepair verifies the rows of an aggregate. With repair, it rebuilds rows that differ, unless head and journal
// contradict each other. If rows can't be rebuilt, the reason is among the differences.
func (p *Projector) VerifyOrRepair(ctx context.Context, key es.AggregateID, repair bool) (Verified, error) {
	found, err := p.Verify(ctx, key)
	if err != nil || !repair || len(found.Differences) == 0 || found.Contradicted {
		return found, err
	}
	if err := p.Remake(ctx, key); err != nil {
		reason := Difference{Key: key, Row: "the repair", What: "nothing was changed", Expected: "rebuilt rows", Found: err.Error()}
		found.Differences = append(found.Differences, reason)
		return found, context.Cause(ctx)
	}
	found.Repaired = true
	return found, nil
}
