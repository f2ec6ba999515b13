package journalcheck

import (
	"fmt"
	"math"
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
	fix        fix
}

// fix is what a repair does about a finding: it deletes the snapshot of this version, or one of the following.
type fix uint64

const (
	nothing fix = 0
	newHead fix = math.MaxUint64 // it writes the head anew
)

// maxFindings limits the findings of one aggregate. A last one counts the others.
const maxFindings = 100

func (l *look) add(kind string, by fix, expected, found, next string, what string, args ...any) {
	if len(l.told) >= maxFindings {
		l.told, l.more = l.told[:maxFindings], l.more+1
		kind, by, expected, found = more, nothing, "none", fmt.Sprint(l.more)
		next, what, args = "fix the findings listed, and check again", "%d more findings are not told", []any{l.more}
	}
	l.told = append(l.told, Finding{
		Tenant: l.id.Tenant.String(), AID: l.id.String(), Kind: kind, What: fmt.Sprintf(what, args...), Expected: expected, Found: found,
		Next: next, Repairable: by != nothing && !l.gap, fix: by,
	})
}
