package journalcheck

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"example.com/threads/es"
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

// headAhead is the kind of a head that the journal does not reach.
const headAhead = "head_ahead"

// maxFindings limits the findings of one aggregate, but for those of its head. A last one counts the others.
const (
	maxFindings  = 100
	moreFindings = "more" // the kind of the last one
)

// look is the stored data of one aggregate and its findings.
type look struct {
	id        es.AggregateID
	last      uint64 // number of the last event; 0: none
	gap       bool   // events before it are missing, so nothing is repaired
	head      es.StoredHead
	snapshots []es.Snapshot
	told      []Finding
	more      int    // findings beyond the maximum
	repair    string // how it is repaired
}

func (l *look) add(kind string, by fix, expected, found, next string, what string, args ...any) {
	if len(l.told) >= maxFindings && by != newHead && kind != moreFindings {
		l.more++
		return
	}
	l.told = append(l.told, Finding{
		Tenant: l.id.Tenant.String(), AID: l.id.String(), Kind: kind, What: fmt.Sprintf(what, args...), Expected: expected, Found: found,
		Next: next, Repairable: by != nothing && !l.gap, fix: by,
	})
}

// look reads journal, then head, then snapshots. An event and its head are written in one transaction, so a head behind
// events that were read before it is wrong, even in a busy aggregate.
func (c *Checker) look(ctx context.Context, id es.AggregateID) (*look, error) {
	l := &look{id: id, repair: c.RepairBy(id)}
	var seqNrs []uint64
	for stored, err := range c.store.StoredEntries(ctx, id) {
		if err != nil {
			return nil, err
		}
		c.checkEntry(l, stored)
		if stored.SeqNr > 0 {
			seqNrs = append(seqNrs, stored.SeqNr)
		}
	}
	l.checkGaps(seqNrs)
	var err error
	if l.head, err = c.store.StoredHead(ctx, id); err != nil {
		return nil, err
	}
	for stored, err := range c.store.StoredSnapshots(ctx, id) {
		if err != nil {
			return nil, err
		}
		if stored.Broken == "" {
			stored.Broken = c.unusable(id, stored)
		}
		stored.Payload = nil // it may be large
		l.snapshots = append(l.snapshots, stored)
	}
	l.checkSnapshots()
	l.checkHead()
	if l.more > 0 {
		l.add(moreFindings, nothing, "none", fmt.Sprint(l.more), "fix the findings listed, and check again", "%d more findings are not told", l.more)
	}
	return l, nil
}

// unusable returns why a program does not use a snapshot whose bytes are whole; empty: it does.
func (c *Checker) unusable(id es.AggregateID, stored es.Snapshot) string {
	known := c.types[id.Type]
	if known == nil {
		return ""
	}
	of, version, err := known.DecodeSnapshot(stored.Payload)
	switch {
	case errors.Is(err, es.ErrOutdated): // it is intact
	case err != nil:
		return "this program can't decode it: " + err.Error()
	case of != id.ID || version != stored.Version:
		return fmt.Sprintf("the state in it is that of %s at version %d", of, version)
	}
	return ""
}

func (c *Checker) checkEntry(l *look, stored es.Entry) {
	const next = "the event can't be repaired here: compare it with a backup of the journal, and see how it is stored; " +
		"a program that can't read it stops there"
	for _, fault := range stored.Faults {
		l.add("event_contradicts", nothing, fault.Expected, fault.Found, next, "event %d is stored with a wrong %s", stored.SeqNr, fault.Field)
	}
	err := error(nil)
	if known := c.types[l.id.Type]; known != nil {
		var recorded es.Recorded[any]
		if recorded, err = known.DecodeEvent(stored.Payload); err == nil {
			l.comparePlace(stored, recorded.Envelope, next)
		}
	} else if !json.Valid(stored.Payload) {
		err = errors.New("it is no JSON")
	}
	if err != nil {
		begin := stored.Payload[:min(len(stored.Payload), 200)]
		l.add("event_unreadable", nothing, "an event that this program knows, as JSON", fmt.Sprintf("%d bytes: %q", len(stored.Payload), begin),
			"if a newer release wrote it, use that release; otherwise "+next, "event %d can't be read: %v", stored.SeqNr, err)
	}
}

// comparePlace compares an event's envelope with where it is stored. Fields that the store does not have are skipped.
func (l *look) comparePlace(entry es.Entry, says es.Envelope, next string) {
	compare := func(field, expected, says string) {
		if expected != says {
			l.add("event_contradicts", nothing, cmp.Or(expected, "nothing"), cmp.Or(says, "nothing"), next,
				"event %d says another %s than its place", entry.SeqNr, field)
		}
	}
	compare("aggregate_id", l.id.ID, says.AggregateID)
	compare("tenant_code", l.id.Tenant.String(), says.Tenant.String())
	compare("seq_nr", fmt.Sprint(entry.SeqNr), fmt.Sprint(says.SeqNr))
	compare("id", cmp.Or(entry.EventID, says.EventID), says.EventID)
	name := es.EventName(entry.Payload)
	compare("type", cmp.Or(entry.EventType, name), cmp.Or(name, entry.EventType))
	compare("command_id", cmp.Or(entry.CommandID, says.CommandID), says.CommandID)
	if !entry.OccurredAt.IsZero() && says.OccurredAt.Sub(entry.OccurredAt).Abs() >= time.Millisecond {
		compare("occurred_at", entry.OccurredAt.Format(time.RFC3339Nano), says.OccurredAt.Format(time.RFC3339Nano))
	}
}

// checkGaps looks for numbers that are missing between 1 and the last. These come before any repair.
func (l *look) checkGaps(seqNrs []uint64) {
	slices.Sort(seqNrs)
	if len(seqNrs) > 0 {
		l.last = seqNrs[len(seqNrs)-1]
	}
	next := uint64(1)
	for _, seqNr := range seqNrs {
		if seqNr > next {
			l.gap = true
			what := fmt.Sprintf("events %d to %d are missing", next, seqNr-1)
			if next == seqNr-1 {
				what = fmt.Sprintf("event %d is missing", next)
			}
			l.add("events_missing", nothing, fmt.Sprintf("events 1 to %d without a gap", l.last), "nothing",
				"restore the events from a backup of the journal: until then commands and rows of this aggregate stand still", "%s", what)
		}
		next = seqNr + 1
	}
	if l.gap {
		l.repair = "once the missing events are back, " + l.repair
	}
}

func (l *look) checkHead() {
	last, repair := l.last, l.repair
	version := func(number uint64) string { return fmt.Sprintf("version %d", number) }
	switch {
	case !l.head.Exists && last == 0:
		return
	case !l.head.Exists:
		l.add("head_missing", newHead, version(last), "nothing", repair+" writes the head; until then commands don't find this aggregate",
			"there are events without a head")
		return
	case last == 0:
		l.add("head_alone", nothing, fmt.Sprintf("events 1 to %d", l.head.Version), "none",
			"check that this program uses the same journal as the others; if so, restore the events from a backup: without events nothing can be repaired",
			"there is a head without any event")
		return
	}
	wrong := map[string]bool{}
	for _, fault := range l.head.Faults {
		wrong[fault.Field] = true
		l.add("head_unreadable", newHead, fault.Expected, fault.Found, repair+" rewrites it", "the head's %s is wrong", fault.Field)
	}
	switch {
	case wrong["version"]:
	case l.head.Version < last:
		l.add("head_behind", newHead, version(last), version(l.head.Version),
			repair+" moves it forward; until then commands of this aggregate fail, and the events after it are not read",
			"the head is behind the journal")
	case l.head.Version > last:
		l.add(headAhead, newHead, version(last), version(l.head.Version),
			fmt.Sprintf("if a backup of the journal has the events after %d, restore them first; otherwise %s moves the head back, "+
				"and those events are lost", last, repair), "the head is ahead of the journal")
	}
	if want := l.pointer(); !wrong["snapshot_version"] && l.head.SnapshotVersion != want {
		l.add("snapshot_pointer", newHead, pointerText(want), pointerText(l.head.SnapshotVersion),
			repair+" corrects it; meanwhile loading is correct but slower", "the head does not point to the latest intact snapshot")
	}
}

func (l *look) checkSnapshots() {
	if l.last == 0 {
		return
	}
	for _, snapshot := range l.snapshots {
		switch drop := fix(snapshot.Version); {
		case snapshot.Version > l.last:
			l.add("snapshot_ahead", drop, fmt.Sprintf("no later version than %d", l.last), fmt.Sprint(snapshot.Version),
				l.repair+" deletes it: otherwise it would be used once there are as many events again",
				"snapshot %d is of a version that the journal does not reach", snapshot.Version)
		case snapshot.Broken != "":
			l.add("snapshot_broken", drop, "a whole snapshot", snapshot.Broken,
				l.repair+" deletes it; take a new one; meanwhile loading is correct but slower",
				"snapshot %d can't be used", snapshot.Version)
		}
	}
}

func pointerText(version uint64) string {
	if version == 0 {
		return "no snapshot"
	}
	return fmt.Sprintf("snapshot %d", version)
}

// pointer returns the latest intact snapshot that is not ahead of the journal; 0: none. The first state, and a snapshot
// that is not listed, count only if the head points to them.
func (l *look) pointer() (latest uint64) {
	for _, snapshot := range l.snapshots {
		counts := snapshot.Version > 1 && !snapshot.Unlisted || l.head.SnapshotVersion == snapshot.Version
		if counts && snapshot.Broken == "" && snapshot.Version <= l.last {
			latest = max(latest, snapshot.Version)
		}
	}
	return latest
}
