package journalcheck

import (
	"fmt"

	"example.com/threads/interfaceadaptor/eventstore"
)

// Kind says what sort of thing is wrong.
type Kind string

// The kinds of findings.
const (
	HeadMissing      Kind = "head_missing"      // there are events without a head
	HeadBehind       Kind = "head_behind"       // the journal has later events
	HeadAhead        Kind = "head_ahead"        // the journal ends earlier
	HeadAlone        Kind = "head_alone"        // there is no event at all
	HeadUnreadable   Kind = "head_unreadable"   // a part of the head is not what can be there
	EventsMissing    Kind = "events_missing"    // a gap in the journal
	EventUnreadable  Kind = "event_unreadable"  // no JSON, or nothing that this program can read
	EventContradicts Kind = "event_contradicts" // the event says that it belongs somewhere else
	SnapshotPointer  Kind = "snapshot_pointer"  // the head does not point to the latest whole snapshot
	SnapshotBroken   Kind = "snapshot_broken"   // a snapshot that can't be used
	SnapshotAhead    Kind = "snapshot_ahead"    // a snapshot of a version that the journal does not reach
	Misplaced        Kind = "misplaced"         // an item where no program looks for it
	More             Kind = "more"              // there were too many findings to tell all
)

// Finding is one thing that is wrong with one aggregate, in words for an operator.
type Finding struct {
	Tenant     string `json:"tenant"`
	AID        string `json:"aid"`
	Kind       Kind   `json:"kind"`
	What       string `json:"what"`
	Expected   string `json:"expected"`
	Found      string `json:"found"`
	Next       string `json:"next"`       // what to do
	Repairable bool   `json:"repairable"` // by [Checker.Repair]
}

// maxFindings bounds what is told of one aggregate.
const maxFindings = 100

// findings collects what is wrong with one aggregate.
type findings struct {
	id   eventstore.AggregateID
	gap  bool // there is one in the journal, so that nothing is repaired
	told []Finding
	more int
}

func (f *findings) add(kind Kind, expected, found, next string, what string, args ...any) {
	if len(f.told) == maxFindings {
		f.more++
		return
	}
	f.told = append(f.told, Finding{
		Tenant: f.id.Tenant, AID: f.id.String(), Kind: kind, What: fmt.Sprintf(what, args...), Expected: expected, Found: found,
		Next: next, Repairable: repairable[kind] && !f.gap,
	})
}

var repairable = map[Kind]bool{
	HeadMissing: true, HeadBehind: true, HeadAhead: true, HeadUnreadable: true,
	SnapshotPointer: true, SnapshotBroken: true, SnapshotAhead: true,
}

// all are the findings, with a last one for those that there was no room for.
func (f *findings) all() []Finding {
	if f.more == 0 {
		return f.told
	}
	last := Finding{
		Tenant: f.id.Tenant, AID: f.id.String(), Kind: More, What: fmt.Sprintf("%d more findings are not told", f.more),
		Expected: "none", Found: fmt.Sprint(f.more), Next: "see to those that are told, and check again",
	}
	return append(f.told[:len(f.told):len(f.told)], last)
}

// repair is the command that mends an aggregate.
func (f *findings) repair() string {
	if f.gap {
		return "once the missing events are back, " + command("journal repair", f.id)
	}
	return command("journal repair", f.id)
}

// command is what an operator types for an aggregate.
func command(words string, id eventstore.AggregateID) string {
	if id.Tenant != "" {
		return fmt.Sprintf("`%s %s --tenant %s`", words, id, id.Tenant)
	}
	return fmt.Sprintf("`%s %s`", words, id)
}
