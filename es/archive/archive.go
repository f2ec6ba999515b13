// Package archive keeps old events in files instead of the journal, and reads them there as if they still were in it.
//
// The last event of an aggregate always stays in the journal. So whoever reads the journal still meets every aggregate,
// finds that earlier events are missing, and asks for them by their numbers: these come from the files.
//
// The events of an aggregate are in <type>/<tenant or _>/<ULID>/<first>-<last>.ndjson.gz, an event a line. A file never
// changes, so a copy of the folder is an archive, too.
package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/internal/seq"
)

// fileSize is when a file ends: with the event whose payload reaches this many bytes. Readers decode a file whole.
const fileSize = 1 << 20

// Store is a store with an archive behind it.
type Store struct {
	es.Store
	Folder string // of the archive's files
}

// Archive copies events of an aggregate to files: those before its last that happened before a time, as far as the
// archive lacks them. The journal does not change. It returns how many were copied.
func (s *Store) Archive(ctx context.Context, id es.AggregateID, before time.Time) (copied int, err error) {
	head, err := s.Head(ctx, id)
	if err = cmp.Or(err, id.Check()); err != nil || head.Version == 0 {
		return 0, err
	}
	files, err := s.files(id)
	if err != nil {
		return 0, err
	}
	last := uint64(0)
	if len(files) > 0 {
		last = files[len(files)-1].last
	}
	var events []es.Entry
	size := 0
	store := func() error {
		if err := s.write(id, events); err != nil {
			return fmt.Errorf("write %s to the archive of events: %w", id, err)
		}
		copied, events, size = copied+len(events), nil, 0
		return nil
	}
	for entry, err := range s.Store.Entries(ctx, id, last, head.Version-1) {
		if err == nil && !entry.OccurredAt.Before(before) {
			break
		}
		events, size = append(events, entry), size+len(entry.Payload)
		if err == nil && size >= fileSize {
			err = store()
		}
		if err != nil {
			return copied, err
		}
	}
	if len(events) > 0 {
		err = store()
	}
	return copied, err
}

// youngest is how old a removed event must be: so long sources hold it, and a writer finds it whose answer was lost.
const youngest = 24 * time.Hour

// Remove deletes events that happened before a time, and a day ago, from the journal: none unless the archive has each
// of them as the journal has it.
func (s *Store) Remove(ctx context.Context, id es.AggregateID, before time.Time) (removed int, err error) {
	if files, err := s.files(id); err != nil || len(files) == 0 { // so that its journal need not be read
		return 0, err
	}
	if old := time.Now().Add(-youngest); old.Before(before) {
		before = old
	}
	type digest [sha256.Size]byte
	digestOf := func(eventID string, payload []byte) digest {
		return sha256.Sum256(fmt.Appendf(nil, "%q %s", eventID, payload))
	}
	first, stored := uint64(math.MaxUint64), make(map[uint64]digest)
	for entry, err := range s.Store.StoredEntries(ctx, id) {
		if err != nil {
			return 0, err
		}
		if entry.SeqNr == 0 { // it is not an event
			continue
		}
		var payload bytes.Buffer
		first, stored[entry.SeqNr] = min(first, entry.SeqNr), digest{} // of no JSON, which the archive can't have
		if json.Compact(&payload, entry.Payload) == nil {
			stored[entry.SeqNr] = digestOf(entry.EventID, payload.Bytes())
		}
	}
	last := first
	for e, err := range s.archived(id, first-1, math.MaxUint64) { // no file whose events are all removed
		if err != nil {
			return 0, err
		}
		if !e.OccurredAt.Before(before) {
			break
		}
		found, is := stored[e.SeqNr]
		if is && found != digestOf(e.EventID, e.Payload) {
			return 0, fmt.Errorf("event %d of %s is not in the archive as it is in the journal, so nothing is removed: find out which is "+
				"right with a backup; if the journal is, delete %s and archive it again", e.SeqNr, id, s.dir(id))
		}
		if is {
			last, removed = e.SeqNr, removed+1
		}
	}
	if removed == 0 {
		return 0, nil
	}
	if err := s.sync(id); err != nil {
		return 0, fmt.Errorf("make the archive of %s durable: %w", id, err)
	}
	return removed, s.RemoveEntries(ctx, id, first, last)
}

// Append implements [es.EventPersistenceGateway]. A head that is behind the archive is wrong: the journal, which lacks
// the events in between, would take others with their numbers.
func (s *Store) Append(ctx context.Context, write es.Append) error {
	files, err := s.files(write.ID)
	if err != nil {
		return err
	}
	if n := len(files); n > 0 && files[n-1].last > write.ExpectedVersion {
		head, err := s.Head(ctx, write.ID)
		if err != nil {
			return err
		}
		if head.Version <= files[n-1].last {
			return &es.InconsistentError{ID: write.ID, Head: head.Version, Event: head.Version + 1}
		}
	}
	return s.Store.Append(ctx, write)
}

// Entries implements [es.Reader]. Only an entry that the journal lacks is looked for in the archive.
func (s *Store) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return either(after,
		func(after uint64) iter.Seq2[es.Entry, error] { return s.Store.Entries(ctx, id, after, upTo) },
		func(after uint64) iter.Seq2[es.Entry, error] { return s.archived(id, after, upTo) })
}

// EntriesAt implements [es.Reader] as Entries does.
func (s *Store) EntriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	left := func(after uint64) []uint64 {
		from, _ := slices.BinarySearch(seqNrs, after+1)
		return seqNrs[from:]
	}
	return either(0,
		func(after uint64) iter.Seq2[es.Entry, error] { return s.Store.EntriesAt(ctx, id, left(after)) },
		func(after uint64) iter.Seq2[es.Entry, error] {
			return s.archived(id, after, math.MaxUint64, left(after)...)
		})
}

// either yields what the journal has after a number and, where it lacks an entry, what the archive has.
func either(after uint64, journal, archive func(after uint64) iter.Seq2[es.Entry, error]) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for {
			var missing *es.InconsistentError
			var before uint64
			for _, source := range []func(uint64) iter.Seq2[es.Entry, error]{journal, archive} {
				before = after
				for entry, err := range source(after) {
					if errors.As(err, &missing) && missing.Cause == nil {
						break
					}
					if !yield(entry, err) || err != nil {
						return
					}
					after = entry.SeqNr
				}
				if missing == nil {
					return
				}
			}
			if after == before {
				yield(es.Entry{}, missing)
				return
			}
		}
	}
}

// StoredEntries implements [es.Maintainer]. What is in the journal and in the archive is yielded as the journal has it.
func (s *Store) StoredEntries(ctx context.Context, id es.AggregateID) iter.Seq2[es.Entry, error] {
	seen := make(map[uint64]bool)
	stored := seq.Map(s.Store.StoredEntries(ctx, id), func(entry es.Entry) (es.Entry, error) {
		seen[entry.SeqNr] = true
		return entry, nil
	})
	return seq.Concat(stored, seq.Map(s.archived(id, 0, math.MaxUint64), func(entry es.Entry) (es.Entry, error) {
		if seen[entry.SeqNr] {
			return entry, seq.ErrSkip
		}
		return entry, nil
	}))
}
