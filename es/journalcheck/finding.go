package journalcheck

import (
	"fmt"
	"math"
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
		kind, by, expected, found = "more", nothing, "none", fmt.Sprint(l.more)
		next, what, args = "fix the findings listed, and check again", "%d more findings are not told", []any{l.more}
	}
	l.told = append(l.told, Finding{
		Tenant: l.id.Tenant.String(), AID: l.id.String(), Kind: kind, What: fmt.Sprintf(what, args...), Expected: expected, Found: found,
		Next: next, Repairable: by != nothing && !l.gap, fix: by,
	})
}
