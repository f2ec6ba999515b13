package journalcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"example.com/threads/es"
)

// look is the stored data of one aggregate and its findings.
type look struct {
	id        es.AggregateID
	spans     []span // of event numbers
	head      es.StoredHead
	snapshots []es.StoredSnapshot
	findings
}

// look reads journal, then head, then snapshots. An event and its head are written in one transaction, so a head behind
// events that were read before it is wrong, even in a busy aggregate.
func (c *Checker) look(ctx context.Context, id es.AggregateID) (*look, error) {
	l := &look{id: id, findings: findings{id: id}}
	seen := numbers{}
	for stored, err := range c.store.StoredEntries(ctx, id) {
		if err != nil {
			return nil, err
		}
		c.checkEntry(l, stored)
		if stored.SeqNr > 0 {
			seen.add(stored.SeqNr)
		}
	}
	l.spans = seen.spans()
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
	l.checkGaps()
	l.checkHead()
	l.checkSnapshots()
	return l, nil
}

// unusable returns why a program does not use a snapshot whose bytes are whole; empty: it does.
func (c *Checker) unusable(id es.AggregateID, stored es.StoredSnapshot) string {
	decoder, known := c.decoders[id.Type]
	if !known {
		return ""
	}
	of, version, err := decoder.Snapshot(stored.Payload)
	switch {
	case errors.Is(err, es.ErrOutdated): // it is intact
	case err != nil:
		return "this program can't decode it: " + err.Error()
	case of != id.ID || version != stored.Version:
		return fmt.Sprintf("the state in it is that of %s at version %d", of, version)
	}
	return ""
}

// empty reports whether nothing is stored.
func (l *look) empty() bool { return len(l.spans) == 0 && !l.head.Exists && len(l.snapshots) == 0 }

// last returns the number of the last event; 0: none.
func (l *look) last() uint64 {
	if len(l.spans) == 0 {
		return 0
	}
	return l.spans[len(l.spans)-1].last
}

func (c *Checker) checkEntry(l *look, stored es.StoredEntry) {
	const next = "the event can't be repaired here: compare it with a backup of the journal, and see `journal show`; " +
		"a program that can't read it stops there"
	at := "event " + decimal(stored.SeqNr)
	for _, fault := range stored.Faults {
		l.add(eventContradicts, fault.Expected, fault.Found, next, "%s is stored with a wrong %s", at, fault.Field)
	}
	var says envelope
	if err := json.Unmarshal(stored.Payload, &says); err != nil {
		l.add(eventUnreadable, "an event as JSON", abbreviate(stored.Payload), next, "%s can't be read: %v", at, err)
		return
	}
	wrong := says.contradictions(l.id, stored.Entry)
	for _, fault := range wrong {
		l.add(eventContradicts, fault.Expected, fault.Found, next, "%s says another %s than its place", at, fault.Field)
	}
	if decoder, known := c.decoders[l.id.Type]; known && len(wrong) == 0 {
		if err := decoder.Event(stored.Payload); err != nil {
			l.add(eventUnreadable, "an event that this program knows", abbreviate(stored.Payload),
				"if a newer release wrote it, use that release; otherwise "+next, "%s can't be read: %v", at, err)
		}
	}
}

func (l *look) checkGaps() {
	for _, gap := range gaps(l.spans) {
		l.gap = true
		what := fmt.Sprintf("events %d to %d are missing", gap.first, gap.last)
		if gap.first == gap.last {
			what = fmt.Sprintf("event %d is missing", gap.first)
		}
		l.add(eventsMissing, fmt.Sprintf("events 1 to %d without a gap", l.last()), "nothing",
			"restore the events from a backup of the journal: until then commands and rows of this aggregate stand still", "%s", what)
	}
}

func (l *look) checkHead() {
	last := l.last()
	version := func(number uint64) string { return "version " + decimal(number) }
	repair := l.repair()
	switch {
	case !l.head.Exists && last == 0:
		return
	case !l.head.Exists:
		l.add(headMissing, version(last), "nothing", repair+" writes the head; until then commands don't find this aggregate",
			"there are events without a head")
		return
	case last == 0:
		l.add(headAlone, "events 1 to "+decimal(l.head.Version), "none",
			"check that this program uses the same journal as the others; if so, restore the events from a backup: without events nothing can be repaired",
			"there is a head without any event")
		return
	}
	unreadable := map[string]bool{}
	for _, fault := range l.head.Faults {
		unreadable[fault.Field] = true
		l.add(headUnreadable, fault.Expected, fault.Found, repair+" rewrites it", "the head's %s is wrong", fault.Field)
	}
	switch {
	case unreadable["version"]:
	case l.head.Version < last:
		l.add(headBehind, version(last), version(l.head.Version),
			repair+" moves it forward; until then commands of this aggregate fail, and the events after it are not read",
			"the head is behind the journal")
	case l.head.Version > last:
		l.add(headAhead, version(last), version(l.head.Version),
			"if a backup of the journal has the events after "+decimal(last)+", restore them first; otherwise "+repair+
				" moves the head back, and those events are lost", "the head is ahead of the journal")
	}
}

func (l *look) checkSnapshots() {
	last, repair := l.last(), l.repair()
	for _, snapshot := range l.snapshots {
		at := "snapshot " + decimal(snapshot.Version)
		switch {
		case last == 0:
		case snapshot.Version > last:
			l.add(snapshotAhead, "no later version than "+decimal(last), decimal(snapshot.Version),
				repair+" deletes it: otherwise it would be used once there are as many events again", "%s is of a version that the journal does not reach", at)
		case snapshot.Broken != "":
			l.add(snapshotBroken, "a whole snapshot", snapshot.Broken,
				repair+" deletes it, and "+Command("snapshots take", l.id)+" writes a new one; meanwhile loading is correct but slower", "%s can't be used", at)
		}
	}
	if !l.head.Exists || last == 0 {
		return
	}
	for _, fault := range l.head.Faults {
		if fault.Field == "snapshot_version" {
			return // reported with the head
		}
	}
	if want := l.pointer(); l.head.SnapshotVersion != want {
		l.add(snapshotPointer, pointerText(want), pointerText(l.head.SnapshotVersion),
			repair+" corrects it; meanwhile loading is correct but slower", "the head does not point to the latest intact snapshot")
	}
}

func pointerText(version uint64) string {
	if version == 0 {
		return "no snapshot"
	}
	return "snapshot " + decimal(version)
}

// pointer returns the latest intact snapshot that is not ahead of the journal; 0: none. The first state, and a snapshot
// that is not listed, count only if the head points to them.
func (l *look) pointer() (latest uint64) {
	for _, snapshot := range l.snapshots {
		counts := snapshot.Version > 1 && !snapshot.Unlisted || l.head.SnapshotVersion == snapshot.Version
		if counts && snapshot.Broken == "" && snapshot.Version <= l.last() {
			latest = max(latest, snapshot.Version)
		}
	}
	return latest
}

func decimal(number uint64) string { return strconv.FormatUint(number, 10) }

// abbreviate returns the beginning of a payload.
func abbreviate(payload []byte) string {
	const most = 200
	if len(payload) > most {
		return fmt.Sprintf("%q and %d bytes more", payload[:most], len(payload)-most)
	}
	return fmt.Sprintf("%q", payload)
}
