package journalcheck

import "fmt"

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

// fix is what a repair does about a finding. The zero fix is nothing.
type fix struct {
	head bool   // it writes the head anew
	drop uint64 // it deletes the snapshot of this version
}

// maxFindings limits the findings of one aggregate.
const maxFindings = 100

func (l *look) add(kind string, by fix, expected, found, next string, what string, args ...any) {
	if len(l.told) == maxFindings {
		l.more++
		return
	}
	l.told = append(l.told, Finding{
		Tenant: l.id.Tenant.String(), AID: l.id.String(), Kind: kind, What: fmt.Sprintf(what, args...), Expected: expected, Found: found,
		Next: next, Repairable: by != fix{} && !l.gap, fix: by,
	})
}

// all returns the findings, with a last one for those beyond the maximum.
func (l *look) all() []Finding {
	if l.more == 0 {
		return l.told
	}
	return append(l.told[:len(l.told):len(l.told)], Finding{
		Tenant: l.id.Tenant.String(), AID: l.id.String(), Kind: more, What: fmt.Sprintf("%d more findings are not told", l.more),
		Expected: "none", Found: fmt.Sprint(l.more), Next: "fix the findings listed, and check again",
	})
}
