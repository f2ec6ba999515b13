package projection

import (
	"cmp"
	"fmt"
	"slices"

	"example.com/threads/usecase"
)

// run is a piece of one aggregate's events for one transaction.
type run struct {
	key    usecase.Key
	events []Event // by seq_nr, each once
	target uint64  // the seq_nr that the aggregate is to reach, as far as is known
	origin origin
	// Of a run from the journal:
	complete bool     // the journal has nothing behind it, or nothing that was asked for
	failure  *failure // why the aggregate can't go on behind it
}

// origin is where the events of a run come from, and with it what is done when they do not fit.
type origin int

const (
	fromSource  origin = iota // whatever does not fit is asked of the journal
	fromJournal               // what does not fit parks the aggregate
	fromRetry                 // the same, for an aggregate that is parked already
)

// failure is an event that can't be projected.
type failure struct {
	seqNr       uint64
	eventID     string
	payload     []byte
	unreachable bool // the journal did not answer: nothing is known of the event
	cause       error
}

// runsOf brings the records of a batch into each aggregate's order. A record that can't be read only proves that the
// event exists: the journal is asked what it is. Records of types without a handler come back as unregistered.
func (p *Projector) runsOf(records []Record) (runs []run, outcome Outcome, unregistered []Type) {
	at := make(map[usecase.Key]int)
	for _, record := range records {
		if _, registered := p.handlers[record.Key.Type]; !registered {
			outcome.Unregistered++
			unregistered = p.meet(unregistered, record.Key)
			continue
		}
		i, known := at[record.Key]
		if !known {
			i = len(runs)
			at[record.Key] = i
			runs = append(runs, run{key: record.Key})
		}
		runs[i].target = max(runs[i].target, record.SeqNr)
		if event, err := p.decode(record); err == nil {
			runs[i].events = append(runs[i].events, event)
		} else {
			outcome.Unreadable++
		}
	}
	for i := range runs {
		events := runs[i].events
		slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.SeqNr, b.SeqNr) })
		runs[i].events = slices.CompactFunc(events, func(a, b Event) bool { return a.SeqNr == b.SeqNr })
		outcome.Duplicates += len(events) - len(runs[i].events)
	}
	return runs, outcome, unregistered
}

// decode reads a record of a registered type. A payload that is no event, or another aggregate's, or another number's,
// is an error; the event's EventID is then as far as it could be read.
func (p *Projector) decode(record Record) (Event, error) {
	event, err := p.handlers[record.Key.Type].Decode(record.Payload)
	if err == nil && (event.Key() != record.Key || event.SeqNr != record.SeqNr) {
		err = fmt.Errorf("it says that it is event %d of %s of tenant %q", event.SeqNr, event.Key(), event.Tenant)
	}
	return event, err
}

// split halves runs, and a single run by its events. A single event can't be halved.
func split(runs []run) (left, right []run, halved bool) {
	switch {
	case len(runs) > 1:
		half := len(runs) / 2
		return runs[:half], runs[half:], true
	case len(runs) == 1 && len(runs[0].events) > 1:
		first, second := runs[0], runs[0]
		half := len(first.events) / 2
		first.events, second.events = first.events[:half], second.events[half:]
		first.target, first.complete, first.failure = first.events[half-1].SeqNr, false, nil
		return []run{first}, []run{second}, true
	default:
		return nil, nil, false
	}
}

func (r run) last() uint64 {
	if len(r.events) == 0 {
		return 0
	}
	return r.events[len(r.events)-1].SeqNr
}
