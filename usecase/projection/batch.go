package projection

import (
	"cmp"
	"fmt"
	"slices"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// Record is one journal record as a source saw it.
type Record struct {
	Key   usecase.Key
	SeqNr uint64
	Event usecase.Recorded[thread.Event] // where Err is nil
	Err   *UnreadableError               // why the record can't be read as an event; nil for one that can
}

// UnreadableError says that a journal record is there but is no event that this program knows.
type UnreadableError struct {
	Key     usecase.Key
	SeqNr   uint64
	EventID string // as far as it could be read
	Payload []byte // as it stands in the journal
	Cause   error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("event %d (id %q) of %s can't be read: %v", e.SeqNr, e.EventID, e.Key, e.Cause)
}

func (e *UnreadableError) Unwrap() error { return e.Cause }

// Checkpoint is how far a shard of a source has been projected. Position is the source's own notation; the source
// reads it back, nobody else does.
type Checkpoint struct {
	Source   string // such as the stream's ARN, or the queue's name
	Shard    string
	Position string
}

// Batch is what a source hands over at once: records in the source's order, and the checkpoint to remember with the
// rows that they change. Both may be empty.
type Batch struct {
	Records    []Record
	Checkpoint Checkpoint
}

// Outcome counts what has become of a batch, a retry or a repair.
type Outcome struct {
	Applied    int // events that came from the source and are in the rows now
	Duplicates int // records whose events were in the rows before
	Filled     int // events that came from the journal and are in the rows now
	Held       int // records that wait in the journal because their thread is parked
	Unusable   int // records that do not name a thread and an event of it
	Parked     int // times that a thread was parked
	Released   int // threads that were parked and are not any more
}

func (o Outcome) plus(other Outcome) Outcome {
	return Outcome{
		Applied:    o.Applied + other.Applied,
		Duplicates: o.Duplicates + other.Duplicates,
		Filled:     o.Filled + other.Filled,
		Held:       o.Held + other.Held,
		Unusable:   o.Unusable + other.Unusable,
		Parked:     o.Parked + other.Parked,
		Released:   o.Released + other.Released,
	}
}

// run is a piece of one thread's events for one transaction.
type run struct {
	key    usecase.Key
	events []usecase.Recorded[thread.Event] // by seq_nr, each once
	target uint64                           // the seq_nr that the thread is to reach, as far as is known
	origin origin
	// Of a run from the journal:
	complete bool     // the journal has nothing behind it, or nothing that was asked for
	failure  *failure // why the thread can't go on behind it
}

// origin is where the events of a run come from, and with it what is done when they do not fit.
type origin int

const (
	fromSource  origin = iota // whatever does not fit is asked of the journal
	fromJournal               // what does not fit parks the thread
	fromRetry                 // the same, for a thread that is parked already
)

// failure is an event that can't be projected.
type failure struct {
	seqNr   uint64
	eventID string
	payload []byte
	cause   error
}

// runsOf brings the records of a batch into each thread's order. A record that can't be read stands for nothing but
// the news that its thread has an event of that number; what the event is will be asked of the journal. Records that
// name no event at all come back as unusable.
func runsOf(records []Record) (runs []run, outcome Outcome, unusable []Record) {
	at := make(map[usecase.Key]int)
	for _, record := range records {
		if record.Key.ID == "" || record.SeqNr == 0 {
			unusable = append(unusable, record)
			continue
		}
		i, known := at[record.Key]
		if !known {
			i = len(runs)
			at[record.Key] = i
			runs = append(runs, run{key: record.Key})
		}
		runs[i].target = max(runs[i].target, record.SeqNr)
		if record.Err == nil {
			runs[i].events = append(runs[i].events, record.Event)
		}
	}
	for i := range runs {
		events := runs[i].events
		slices.SortStableFunc(events, func(a, b usecase.Recorded[thread.Event]) int { return cmp.Compare(a.SeqNr, b.SeqNr) })
		runs[i].events = slices.CompactFunc(events, func(a, b usecase.Recorded[thread.Event]) bool { return a.SeqNr == b.SeqNr })
		outcome.Duplicates += len(events) - len(runs[i].events)
	}
	outcome.Unusable = len(unusable)
	return runs, outcome, unusable
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
