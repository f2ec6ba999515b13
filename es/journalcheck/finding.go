package journalcheck

import (
	"fmt"

	"example.com/threads/es"
)

// The kinds of findings.
const (
	headMissing      = "head_missing"      // events without a head
	headBehind       = "head_behind"       // the journal has later events
	headAhead        = "head_ahead"        // the journal ends earlier
	headAlone        = "head_alone"        // no events at all
	headUnreadable   = "head_unreadable"   // an invalid attribute in the head
	eventsMissing    = "events_missing"    // a gap in the journal
	eventUnreadable  = "event_unreadable"  // no JSON, or not readable by this program
	eventContradicts = "event_contradicts" // the event's envelope names another place
	snapshotPointer  = "snapshot_pointer"  // the head does not point to the latest intact snapshot
	snapshotBroken   = "snapshot_broken"   // an unusable snapshot
	snapshotAhead    = "snapshot_ahead"    // a snapshot of a version that the journal does not reach
	misplaced        = "misplaced"         // an item where no program reads it
	more             = "more"              // findings beyond the maximum
)

// Finding describes one fault of one aggregate for an operator.
type Finding struct {
	Tenant     string `json:"tenant"`
	AID        string `json:"aid"`
	Kind       string `json:"kind"` // such as "head_behind"
	What       string `json:"what"`
	Expected   string `json:"expected"`
	Found      string `json:"found"`
	Next       string `json:"next"`       // what to do
	Repairable bool   `json:"repairable"` // by [Checker.Repair]
}

// maxFindings limits the findings of one aggregate.
const maxFindings = 100

// findings collects the findings of one aggregate.
type findings struct {
	id   es.AggregateID
	gap  bool // the journal has a gap, so nothing is repaired
	told []Finding
	more int
}

func (f *findings) add(kind string, expected, found, next string, what string, args ...any) {
	if len(f.told) == maxFindings {
		f.more++
		return
	}
	f.told = append(f.told, Finding{
		Tenant: f.id.Tenant.String(), AID: f.id.String(), Kind: kind, What: fmt.Sprintf(what, args...), Expected: expected, Found: found,
		Next: next, Repairable: repairable[kind] && !f.gap,
	})
}

var repairable = map[string]bool{
	headMissing: true, headBehind: true, headAhead: true, headUnreadable: true,
	snapshotPointer: true, snapshotBroken: true, snapshotAhead: true,
}

// all returns the findings, with a last one for those beyond the maximum.
func (f *findings) all() []Finding {
	if f.more == 0 {
		return f.told
	}
	last := Finding{
		Tenant: f.id.Tenant.String(), AID: f.id.String(), Kind: more, What: fmt.Sprintf("%d more findings are not told", f.more),
		Expected: "none", Found: fmt.Sprint(f.more), Next: "fix the findings listed, and check again",
	}
	return append(f.told[:len(f.told):len(f.told)], last)
}

// repair is the command that repairs an aggregate.
func (f *findings) repair() string {
	if f.gap {
		return "once the missing events are back, " + Command("journal repair", f.id)
	}
	return Command("journal repair", f.id)
}

// Command returns the operators' command line about an aggregate, quoted.
func Command(words string, id es.AggregateID) string {
	if id.Tenant != "" {
		return fmt.Sprintf("`%s %s --tenant %s`", words, id, id.Tenant)
	}
	return fmt.Sprintf("`%s %s`", words, id)
}
