package projection

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.com/threads/es"
)

// eventRun holds consecutive events of one aggregate for one transaction.
type eventRun struct {
	key    es.AggregateID
	events []Event // by SeqNr, no duplicates
	target uint64  // the SeqNr that the aggregate should reach
	origin origin
	// Only for runs from the journal:
	complete bool     // the journal has no further events that were asked for
	failure  *failure // why the aggregate cannot continue after these events
}

// origin is where the events of a run come from. It decides what happens when they cannot be applied.
type origin int

const (
	fromSource  origin = iota // missing events are read from the journal
	fromJournal               // the aggregate is parked
	fromRetry                 // the same; the aggregate is parked already
)

// failure describes an event that cannot be projected.
type failure struct {
	seqNr       uint64
	eventID     string
	unreachable bool // the journal could not be read; the event itself is not known to be bad
	cause       error
}

// decodedBatch is a batch whose records are decoded.
type decodedBatch struct {
	runs    []eventRun // by aggregate
	mark    Changes    // a checkpoint, and types that were skipped
	outcome Outcome    // of decoding
	records int
	began   time.Time
}

// decodeAll decodes a batch. An unreadable record only proves that the event exists, which the journal then tells.
func (p *Projector) decodeAll(batch Batch) decodedBatch {
	decoded := decodedBatch{mark: Changes{Checkpoint: batch.Checkpoint}, records: len(batch.Records), began: time.Now()}
	index := make(map[es.AggregateID]int) // into runs
	for _, record := range batch.Records {
		if !p.options.Tenants(record.Key.Tenant) {
			continue
		}
		if _, registered := p.handlers[record.Key.Type]; !registered {
			decoded.outcome.Unregistered++
			decoded.mark.Types = p.meet(decoded.mark.Types, record.Key)
			continue
		}
		i, known := index[record.Key]
		if !known {
			i = len(decoded.runs)
			index[record.Key] = i
			decoded.runs = append(decoded.runs, eventRun{key: record.Key})
		}
		run := &decoded.runs[i]
		run.target = max(run.target, record.SeqNr)
		if event, err := p.decode(record, p.options.Skipped); err == nil {
			run.events = append(run.events, event)
		} else {
			decoded.outcome.Unreadable++
		}
	}
	for i, run := range decoded.runs {
		slices.SortStableFunc(run.events, func(a, b Event) int { return cmp.Compare(a.SeqNr, b.SeqNr) })
		decoded.runs[i].events = slices.CompactFunc(run.events, func(a, b Event) bool { return a.SeqNr == b.SeqNr })
		decoded.outcome.Duplicates += len(run.events) - len(decoded.runs[i].events)
	}
	return decoded
}

// decode decodes a record of a registered type; the Event of one that changes no row, or that is left out, is nil. It
// fails when the payload is no event, or that of another aggregate or number: then with the EventID, if there is one.
func (p *Projector) decode(record Record, leftOut map[AtVersion]string) (event Event, err error) {
	event, err = p.decodePayload(record)
	// After a restore, another event may have the number of one that was left out.
	if id, is := leftOut[AtVersion{record.Key, record.SeqNr}]; is && (err != nil || id == "" || id == event.EventID) {
		event, err = Event{}, nil
	}
	switch key := record.Key; {
	case err != nil:
	case event.Event == nil:
		event.Envelope = es.Envelope{AggregateType: key.Type, AggregateID: key.ID, SeqNr: record.SeqNr, Caller: es.Caller{Tenant: key.Tenant}}
	case event.Aggregate() != key || event.SeqNr != record.SeqNr:
		err = fmt.Errorf("the payload is event %d of %s of tenant %q, which is not what its record says", event.SeqNr, event.Aggregate(), event.Tenant)
	}
	return event, err
}

func (p *Projector) decodePayload(record Record) (event Event, err error) {
	defer p.recovered(&err)
	return p.handlers[record.Key.Type].DecodeEvent(record.Payload)
}

// split halves runs, or a single run by its events. A single event cannot be split.
func split(runs []eventRun) (left, right []eventRun, halved bool) {
	switch {
	case len(runs) > 1:
		half := len(runs) / 2
		return runs[:half], runs[half:], true
	case len(runs) == 1 && len(runs[0].events) > 1:
		first, second := runs[0], runs[0]
		half := len(first.events) / 2
		first.events, second.events = first.events[:half], second.events[half:]
		first.target, first.complete, first.failure = first.events[half-1].SeqNr, false, nil
		return []eventRun{first}, []eventRun{second}, true
	default:
		return nil, nil, false
	}
}

func (r eventRun) last() uint64 {
	if len(r.events) == 0 {
		return 0
	}
	return r.events[len(r.events)-1].SeqNr
}

// keysOf returns the key of each.
func keysOf[A any](all []A, keyOf func(A) es.AggregateID) []es.AggregateID {
	keys := make([]es.AggregateID, len(all))
	for i, each := range all {
		keys[i] = keyOf(each)
	}
	return keys
}
