package es

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"example.com/threads/es/internal/seq"
)

// Repository loads and saves the aggregates of one type, with states S and events E. It caches states. A cached state
// may be stale, but it is always a prefix of the aggregate's history.
type Repository[S, E any] struct {
	gateway   EventPersistenceGateway
	codec     *Codec[E]
	snapshots SnapshotCodec[S]
	apply     func(S, E) S
	states    *stateCache[S]
	past      atomic.Pointer[past[S]]
	metrics   typeMetrics
	settings  Settings

	mutex    sync.Mutex
	due      map[AggregateID]cached[S] // the latest states whose snapshots wait for their turn to be written
	dueBytes uint64                    // of all of them
	slot     chan struct{}             // holds a token while a snapshot is written
	writing  sync.WaitGroup            // goroutines
	ended    context.Context           // of all of them
	giveUp   context.CancelFunc
}

// NewRepository returns a repository over store. [Repository.Close] ends it.
func NewRepository[S, C, E any](aggregate Aggregate[S, C, E], store EventPersistenceGateway, settings Settings) *Repository[S, E] {
	aggregate, settings = aggregate.withDefaults(), settings.withDefaults()
	metrics := settings.Metrics.types(aggregate.Type())
	r := &Repository[S, E]{
		gateway:   store,
		codec:     aggregate.Events,
		snapshots: aggregate.Snapshots,
		apply:     aggregate.Apply,
		states:    newStateCache(settings.CacheBytes, aggregate.Snapshots.Size, metrics),
		metrics:   metrics,
		settings:  settings,
		due:       map[AggregateID]cached[S]{},
		slot:      make(chan struct{}, 1),
	}
	r.ended, r.giveUp = context.WithCancel(context.Background())
	return r
}

// Type returns the name of the aggregate type.
func (r *Repository[S, E]) Type() string { return r.codec.Type() }

// Load returns the cached state if there is one, otherwise the latest.
func (r *Repository[S, E]) Load(ctx context.Context, key AggregateID) (State[S], error) {
	if known, found := r.states.get(key); found {
		r.metrics.hits.Inc()
		return known.State, nil
	}
	r.metrics.misses.Inc()
	return r.Reload(ctx, key)
}

// confirm compares the version with the head. If there is no head, it checks that there is no event either.
func (r *Repository[S, E]) confirm(ctx context.Context, key AggregateID, version uint64) error {
	head, err := r.gateway.Head(ctx, key)
	switch {
	case err != nil:
		return err
	case head.Version != version:
		return ErrConflict
	case version == 0:
		return head.Verify(ctx, r.gateway, key)
	}
	return nil
}

// Reload returns the latest state: the cached state or the latest readable snapshot, plus the events after it.
func (r *Repository[S, E]) Reload(ctx context.Context, key AggregateID) (State[S], error) {
	known, _ := r.states.get(key) // read before the head, so that it cannot be newer than the head
	head, err := r.gateway.Head(ctx, key)
	if err != nil || head.Version == 0 {
		return State[S]{}, err
	}
	if known.Version > head.Version {
		// The store is older than the cached state: an older copy of it was restored.
		r.states.forget(key)
		known.State = State[S]{}
	}
	state, err := r.replay(ctx, key, known.State, head)
	if err != nil {
		return state, err
	}
	return r.states.remember(key, state, head.SnapshotVersion).State, nil
}

// Latest returns the aggregate's version and its latest state. If an event can't be decoded: the state before it.
func (r *Repository[S, E]) Latest(ctx context.Context, key AggregateID) (state State[S], version uint64, err error) {
	state, err = r.Reload(ctx, key)
	unreadable, is := errors.AsType[*unreadableError](err)
	if !is {
		return state, state.Version, err
	}
	head, err := r.gateway.Head(ctx, key)
	if err == nil && unreadable.seqNr > 1 {
		state, err = r.At(ctx, key, unreadable.seqNr-1)
	}
	return state, head.Version, err
}

// At returns the state at a version that Latest has shown.
func (r *Repository[S, E]) At(ctx context.Context, key AggregateID, version uint64) (State[S], error) {
	if latest, found := r.states.get(key); found && latest.Version == version {
		return latest.State, nil
	}
	head, err := r.gateway.Head(ctx, key)
	if err != nil {
		return State[S]{}, err
	}
	var from State[S]
	if last := r.past.Load(); last != nil && last.key == key && last.Version <= version && version-last.Version <= manySteps*r.settings.SnapshotEvery {
		from = last.State
	}
	head.Version = version
	state, err := r.replay(ctx, key, from, head)
	if err == nil {
		r.past.Store(&past[S]{key, state})
	}
	return state, err
}

// manySteps is how many times the distance of snapshots At replays at most from the state that it has returned last.
const manySteps = 10

// past is the state that was read last before the latest: often a later one is read next.
type past[S any] struct {
	key AggregateID
	State[S]
}

// replay returns the state at the head's version, from an earlier one or, if that is zero, the latest snapshot.
func (r *Repository[S, E]) replay(ctx context.Context, key AggregateID, state State[S], head Head) (_ State[S], err error) {
	if state.Version == 0 {
		if state, err = r.latestSnapshot(ctx, key, head); err != nil {
			return State[S]{}, err
		}
		if state.Version > 0 && state.Version == head.Version { // or else nothing of the journal would be read
			for _, err := range r.gateway.EntriesAt(ctx, key, []uint64{head.Version}) {
				if err != nil {
					return State[S]{}, err
				}
			}
		}
	}
	for recorded, err := range r.Events(ctx, key, state.Version, head.Version) {
		if err == nil && recorded.SeqNr != state.Version+1 {
			err = fmt.Errorf("event %d of %s comes after event %d", recorded.SeqNr, key, state.Version)
		}
		if err != nil {
			return State[S]{}, err
		}
		state = State[S]{Version: recorded.SeqNr, Value: r.apply(state.Value, recorded.Event)}
	}
	return state, nil
}

// latestSnapshot returns the state of the latest readable snapshot, or the state before the first event.
func (r *Repository[S, E]) latestSnapshot(ctx context.Context, key AggregateID, head Head) (State[S], error) {
	for snapshot, err := range r.gateway.Snapshots(ctx, key, head) {
		if err != nil {
			return State[S]{}, err
		}
		id, version, state, err := r.snapshots.Decode(snapshot.Payload)
		if snapshot.Broken != "" {
			err = errors.New(snapshot.Broken)
		}
		if err == nil && (id != key.ID || version != snapshot.Version) {
			err = errors.New("it belongs to " + id + " at another version")
		}
		if err == nil {
			return State[S]{Version: version, Value: state}, nil
		}
		r.metrics.unreadable.Inc()
		r.settings.Logger.WarnContext(ctx, "skipped an unreadable snapshot; an earlier one or the events are used instead",
			"tenant", key.Tenant, "aggregate", key.String(), "version", snapshot.Version, "error", err)
	}
	return State[S]{}, nil
}

// Events yields the events with after < SeqNr <= upTo in order, page by page. upTo is a version that Latest has shown.
func (r *Repository[S, E]) Events(ctx context.Context, key AggregateID, after, upTo uint64) iter.Seq2[Recorded[E], error] {
	return seq.Map(r.gateway.Entries(ctx, key, after, upTo), func(entry Entry) (Recorded[E], error) { return r.decode(key, entry) })
}

// EventsAt yields the events with these numbers, which ascend and which Latest has shown.
func (r *Repository[S, E]) EventsAt(ctx context.Context, key AggregateID, seqNrs []uint64) iter.Seq2[Recorded[E], error] {
	return seq.Map(r.gateway.EntriesAt(ctx, key, seqNrs), func(entry Entry) (Recorded[E], error) { return r.decode(key, entry) })
}

// Describe yields the same events as Events, for people: of one that cannot be decoded, the payload as it is.
func (r *Repository[S, E]) Describe(ctx context.Context, key AggregateID, after, upTo uint64) iter.Seq2[Described, error] {
	return seq.Map(r.gateway.Entries(ctx, key, after, upTo), func(entry Entry) (Described, error) { return r.describe(key, entry) })
}

// decode fails at a payload that is not the event of its place.
func (r *Repository[S, E]) decode(key AggregateID, entry Entry) (Recorded[E], error) {
	recorded, err := r.codec.Decode(entry.Payload)
	if err == nil && (recorded.Aggregate() != key || recorded.SeqNr != entry.SeqNr) {
		err = fmt.Errorf("the payload is event %d of %s of tenant %q", recorded.SeqNr, recorded.Aggregate(), recorded.Tenant)
	}
	if err != nil {
		return recorded, &unreadableError{fmt.Errorf("event %d of %s: %w", entry.SeqNr, key, err), entry.SeqNr}
	}
	return recorded, nil
}

// unreadableError: an event cannot be decoded, or is not the one of its place.
type unreadableError struct {
	error
	seqNr uint64
}

func (r *Repository[S, E]) describe(key AggregateID, entry Entry) (described Described, err error) {
	if recorded, err := r.decode(key, entry); err == nil {
		name, fields, err := r.codec.Describe(recorded.Event)
		return Described{Envelope: recorded.Envelope, Type: name, Data: fields}, err
	}
	described = Described{Type: EventName(entry.Payload), Envelope: Envelope{
		EventID: entry.EventID, AggregateType: key.Type, AggregateID: key.ID, SeqNr: entry.SeqNr, OccurredAt: entry.OccurredAt,
		Caller: Caller{Tenant: key.Tenant},
	}}
	var oneLine bytes.Buffer
	if json.Compact(&oneLine, entry.Public()) == nil {
		described.Data = oneLine.Bytes()
	} else {
		described.Data, err = json.Marshal(string(entry.Public()))
	}
	return described, err
}

// save appends events that were decided on the version before, and led to the state after.
func (r *Repository[S, E]) save(ctx context.Context, key AggregateID, before uint64, after State[S], events []Recorded[E], receipts []Receipt, heed bool) error {
	write := Append{ID: key, ExpectedVersion: before, Receipts: receipts, Heed: heed, Entries: make([]Entry, 0, len(events))}
	for _, event := range events {
		payload, err := r.codec.Encode(event)
		if err != nil {
			return err
		}
		write.Entries = append(write.Entries, Entry{
			SeqNr: event.SeqNr, EventID: event.EventID, EventType: r.codec.EventType(event.Event), OccurredAt: event.OccurredAt,
			UserID: event.Executor, CommandID: event.CommandID, CorrelationID: event.CorrelationID, Payload: payload,
		})
	}
	if before == 0 {
		var err error
		if write.FirstSnapshot, err = r.snapshots.Encode(key.ID, 1, r.apply(*new(S), events[0].Event)); err != nil {
			return err
		}
	}
	if err := r.gateway.Append(ctx, write); err != nil {
		return err
	}
	r.saved(ctx, key, before, after)
	return nil
}
