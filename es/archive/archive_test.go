package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/archive"
	"example.com/threads/es/journalcheck"
	"example.com/threads/es/sqlstore"
)

// long is a time at which events happened, a second after each other.
var long = time.Date(2016, 3, 4, 5, 6, 7, 0, time.UTC)

// opened returns a store on SQLite, one with an archive over it, and the archive's folder.
func opened(t *testing.T) (*sqlstore.Gateway, *archive.Store, string) {
	t.Helper()
	store, err := sqlstore.OpenFile(t.Context(), filepath.Join(t.TempDir(), "events.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.WithoutCancel(t.Context())) })
	folder := t.TempDir()
	return store, &archive.Store{Store: store, Folder: folder}, folder
}

func newID(tenant es.Tenant) es.AggregateID {
	return es.AggregateID{Tenant: tenant, Type: "notebook", ID: ulid.Make().String()}
}

// grow appends events up to a number, with payloads of about size bytes, which it returns.
func grow(t *testing.T, store es.Store, id es.AggregateID, after, upTo uint64, size int, first time.Time) (payloads []string) {
	t.Helper()
	for after < upTo {
		write := es.Append{ID: id, ExpectedVersion: after}
		for ; after < upTo && len(write.Entries) < es.MaxAppend; after++ {
			payload := fmt.Sprintf(`{"type":"Noted","seq_nr":%d,"tenant":%q,"text":"<&>%s"}`, after+1, id.Tenant, strings.Repeat("é", size/2))
			payloads = append(payloads, payload)
			write.Entries = append(write.Entries, es.Entry{
				SeqNr: after + 1, EventID: ulid.Make().String(), OccurredAt: first.Add(time.Duration(after) * time.Second), Payload: []byte(payload),
				CommandID: ulid.Make().String(),
			})
		}
		if err := store.Append(t.Context(), write); err != nil {
			t.Fatal(err)
		}
	}
	return payloads
}

// The journal lacks the archived events, so it would take others with their numbers.
func TestAHeadBehindTheArchiveTakesNoEvents(t *testing.T) {
	for _, version := range []uint64{1, 3, 9} {
		store, s, _ := opened(t)
		id := newID("")
		grow(t, s, id, 0, 10, 10, long)
		moved(t, s, id, time.Now(), 9, 9)
		append := func(after uint64) error {
			return s.Append(t.Context(), es.Append{ID: id, ExpectedVersion: after, Entries: []es.Entry{
				{SeqNr: after + 1, EventID: ulid.Make().String(), OccurredAt: long, Payload: []byte(`{"type":"Noted"}`)},
			}})
		}
		if err := append(3); !errors.Is(err, es.ErrConflict) { // a writer that is late
			t.Errorf("behind the head: %v", err)
		}
		if _, err := store.DB.ExecContext(t.Context(), "UPDATE aggregates SET version = ?", version); err != nil {
			t.Fatal(err)
		}
		var wrong *es.InconsistentError
		if err := append(version); !errors.As(err, &wrong) || wrong.Head != version {
			t.Errorf("the head says %d: %v", version, err)
		}
	}
}

// moved archives and removes, and expects how many events were copied and removed.
func moved(t *testing.T, s *archive.Store, id es.AggregateID, before time.Time, copied, removed int) {
	t.Helper()
	n, err := s.Archive(t.Context(), id, before)
	if err != nil || n != copied {
		t.Fatalf("%d events were copied, want %d: %v", n, copied, err)
	}
	if n, err = s.Remove(t.Context(), id, before); err != nil || n != removed {
		t.Fatalf("%d events were removed, want %d: %v", n, removed, err)
	}
}

// reads expects that all events are read, in every way.
func reads(t *testing.T, s es.Store, id es.AggregateID, payloads []string) {
	t.Helper()
	last := uint64(len(payloads))
	for _, after := range []uint64{0, 1, last / 2, last - 1, last} {
		next := after
		for entry, err := range s.Entries(t.Context(), id, after, last) {
			if err != nil {
				t.Fatal(err)
			}
			if next++; entry.SeqNr != next || string(entry.Payload) != payloads[next-1] || entry.EventID == "" ||
				entry.OccurredAt != long.Add(time.Duration(next-1)*time.Second) {
				t.Fatalf("event %d after %d is %+v", next, after, entry)
			}
		}
		if next != last {
			t.Fatalf("after %d the events end at %d of %d", after, next, last)
		}
	}
	some := slices.Compact([]uint64{1, 2, last/2 + 1, last - 1, last})
	var found []uint64
	for entry, err := range s.EntriesAt(t.Context(), id, some) {
		if err != nil || string(entry.Payload) != payloads[entry.SeqNr-1] {
			t.Fatalf("%+v, %v", entry, err)
		}
		found = append(found, entry.SeqNr)
	}
	if !slices.Equal(found, some) {
		t.Errorf("found %d, want %d", found, some)
	}
	var stored []uint64
	for entry, err := range s.StoredEntries(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, entry.SeqNr)
	}
	if slices.Sort(stored); uint64(len(stored)) != last || len(slices.Compact(stored)) != len(payloads) {
		t.Errorf("%d entries are stored, want %d, each once", len(stored), last)
	}
}

func TestEventsReadAsBeforeTheyWereMoved(t *testing.T) {
	store, s, folder := opened(t)
	id, other := newID(""), newID("one")
	payloads, others := grow(t, store, id, 0, 120, 40_000, long), grow(t, store, other, 0, 3, 10, long)
	moved(t, s, id, long.Add(50*time.Second), 50, 50)
	reads(t, s, id, payloads)
	moved(t, s, id, long.Add(50*time.Second), 0, 0)
	moved(t, s, id, time.Now(), 69, 69) // the last one stays
	moved(t, s, other, time.Now(), 2, 2)
	reads(t, s, id, payloads)
	reads(t, s, other, others)
	if files, err := filepath.Glob(filepath.Join(folder, "notebook", "_", id.ID, "*-*.ndjson.gz")); len(files) != 5 || err != nil {
		t.Errorf("the files are %q, %v", files, err)
	}
	var left []uint64
	for entry, err := range store.StoredEntries(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, entry.SeqNr)
	}
	if !slices.Equal(left, []uint64{120}) {
		t.Errorf("the journal has %d", left)
	}
	payloads = append(payloads, grow(t, s, id, 120, 121, 10, long)...) // a command goes on
	reads(t, s, id, payloads)
	if found, err := journalcheck.New(s).Aggregate(t.Context(), id); err != nil || len(found) > 0 {
		t.Errorf("a check finds %+v, %v", found, err)
	}
	if found, err := journalcheck.New(store).Aggregate(t.Context(), id); err != nil || len(found) != 1 || found[0].Kind != "events_missing" {
		t.Errorf("without the archive, a check finds %+v, %v", found, err)
	}
}

func TestOnlyWhatTheArchiveHasIsRemoved(t *testing.T) {
	store, s, folder := opened(t)
	id := newID("")
	payloads := grow(t, store, id, 0, 10, 10, long)
	moved(t, s, id, long, 0, 0)
	if n, err := s.Remove(t.Context(), id, time.Now()); n > 0 || err != nil {
		t.Errorf("%d events were removed that are not in the archive: %v", n, err)
	}
	if _, err := s.Archive(t.Context(), id, time.Now()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "notebook", "_", id.ID, "1-9.ndjson.gz")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{"cut off": whole[:len(whole)-9], "empty": nil, "changed": append(bytes.Clone(whole[:len(whole)-6]), 1, 2, 3, 4, 5, 6)} {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Remove(t.Context(), id, time.Now()); !errors.Is(err, es.ErrDamaged) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %d events were removed: %v", name, n, err)
		}
	}
	// Another event's text, with a right checksum.
	_, another, others := opened(t)
	grow(t, another, id, 0, 10, 12, long)
	if _, err := another.Archive(t.Context(), id, time.Now()); err != nil {
		t.Fatal(err)
	}
	another = &archive.Store{Store: store, Folder: others}
	if n, err := another.Remove(t.Context(), id, time.Now()); err == nil || !strings.Contains(err.Error(), "event 1 ") {
		t.Errorf("%d events were removed that the archive has in another form: %v", n, err)
	}
	reads(t, store, id, payloads)
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	moved(t, s, id, time.Now(), 0, 9)
	reads(t, s, id, payloads)
}

// The archive may have more: a job of every night copies until yesterday.
func TestOnlyOldEventsAreRemoved(t *testing.T) {
	store, s, _ := opened(t)
	id := newID("")
	payloads := grow(t, store, id, 0, 100, 10, long)
	moved(t, s, id, long.Add(80*time.Second), 80, 80)
	if n, err := s.Archive(t.Context(), id, time.Now()); err != nil || n != 19 {
		t.Fatal(n, err)
	}
	moved(t, s, id, long.Add(90*time.Second), 0, 10)
	reads(t, s, id, payloads)

	young, dayAgo := newID(""), time.Now().Add(-24*time.Hour)
	grow(t, store, young, 0, 3, 10, dayAgo.Add(-time.Minute))
	grow(t, store, young, 3, 6, 10, dayAgo.Add(time.Minute))
	moved(t, s, young, time.Now().Add(time.Hour), 5, 3)
}

// Removing again and again costs what is new, and not the whole archive.
func TestFilesOfRemovedEventsAreNotRead(t *testing.T) {
	store, s, folder := opened(t)
	id := newID("")
	payloads := grow(t, store, id, 0, 20, 10, long)
	moved(t, s, id, long.Add(10*time.Second), 10, 10)
	path := filepath.Join(folder, "notebook", "_", id.ID, "1-10.ndjson.gz")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	moved(t, s, id, time.Now(), 9, 9)
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	reads(t, s, id, payloads)
}

func TestAFolderMayBeRelative(t *testing.T) {
	store, _, folder := opened(t)
	t.Chdir(folder)
	for _, path := range []string{".", "", "a", "./a/../b/"} {
		id := newID("")
		payloads := grow(t, store, id, 0, 3, 10, long)
		s := &archive.Store{Store: store, Folder: path}
		moved(t, s, id, time.Now(), 2, 2)
		reads(t, s, id, payloads)
	}
}

func TestAnArchiveThatCantBeReadIsTold(t *testing.T) {
	store, s, folder := opened(t)
	id := newID("")
	grow(t, store, id, 0, 10, 10, long)
	moved(t, s, id, time.Now(), 9, 9)
	first := func() (err error) {
		for _, err = range s.Entries(t.Context(), id, 0, 10) {
			break
		}
		return err
	}
	path := filepath.Join(folder, "notebook", "_", id.ID, "1-9.ndjson.gz")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := first(); !errors.Is(err, es.ErrDamaged) {
		t.Errorf("a damaged file: %v", err)
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := first(); es.KindOf(err) != es.Unavailable || errors.Is(err, es.ErrDamaged) {
		t.Errorf("a file that can't be read: %v", err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := first(); es.KindOf(err) != es.Inconsistent || !strings.Contains(err.Error(), "lacks event 1") {
		t.Errorf("a lost archive: %v", err)
	}
}

// Another user than that of the programs may run it: each command looks into the folders.
func TestWhoReadsTheFolderReadsTheFiles(t *testing.T) {
	store, s, folder := opened(t)
	if err := os.Chmod(folder, 0o750|fs.ModeSetgid); err != nil { //nolint:gosec // the group may read it
		t.Fatal(err)
	}
	defer syscall.Umask(syscall.Umask(0o077))
	id := newID("acme")
	grow(t, store, id, 0, 10, 10, long)
	if _, err := s.Archive(t.Context(), id, time.Now()); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		want := fs.FileMode(0o640)
		if entry.IsDir() {
			want = 0o750 | fs.ModeSetgid
		}
		if info, err := entry.Info(); err != nil || info.Mode()&^fs.ModeDir != want {
			t.Errorf("%s has the mode %s, want %s: %v", path, info.Mode(), want, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// halting removes some entries, and then fails, as if the process was killed.
type halting struct {
	es.Store
	after uint64
}

func (h halting) RemoveEntries(ctx context.Context, id es.AggregateID, first, _ uint64) error {
	return errors.Join(h.Store.RemoveEntries(ctx, id, first, h.after), errors.New("killed"))
}

func TestARemovalThatWasInterruptedGoesOn(t *testing.T) {
	store, s, folder := opened(t)
	id := newID("")
	payloads := grow(t, store, id, 0, 300, 10, long)
	if _, err := s.Archive(t.Context(), id, time.Now()); err != nil {
		t.Fatal(err)
	}
	killed := &archive.Store{Store: halting{store, 120}, Folder: folder}
	if _, err := killed.Remove(t.Context(), id, time.Now()); err == nil {
		t.Fatal("it was not interrupted")
	}
	if err := os.WriteFile(filepath.Join(folder, "notebook", "_", id.ID, "123.tmp"), []byte("part"), 0o600); err != nil {
		t.Fatal(err)
	}
	reads(t, s, id, payloads)
	moved(t, s, id, time.Now(), 0, 179)
	reads(t, s, id, payloads)
}

func TestSeveralMayArchiveAtTheSameTime(t *testing.T) {
	store, s, _ := opened(t)
	id := newID("")
	payloads := grow(t, store, id, 0, 100, 10, long)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			before := long.Add(time.Duration(5*i) * time.Second)
			_, err := s.Archive(t.Context(), id, before)
			if err == nil {
				_, err = s.Remove(t.Context(), id, before)
			}
			if err != nil && es.KindOf(err) != es.Inconsistent { // another has just removed what it was about to copy
				t.Error(err)
			}
			reads(t, s, id, payloads)
		})
	}
	all.Wait()
	if _, err := s.Archive(t.Context(), id, time.Now()); err != nil {
		t.Fatal(err)
	}
	reads(t, s, id, payloads)
}
