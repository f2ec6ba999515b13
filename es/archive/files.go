package archive

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"example.com/threads/es"
)

// file is a file by the numbers of its first and last event.
type file struct{ first, last uint64 }

func (f file) name() string { return fmt.Sprintf("%d-%d.ndjson.gz", f.first, f.last) }

// dir returns the folder of an aggregate.
func (s *Store) dir(id es.AggregateID) string {
	return filepath.Join(s.Folder, id.Type, cmp.Or(id.Tenant.String(), "_"), id.ID)
}

// files returns an aggregate's files in order, from event 1, without a gap. Two that were made at once may overlap.
func (s *Store) files(id es.AggregateID) (files []file, err error) {
	if id.Check() != nil {
		return nil, nil //nolint:nilerr // it is never archived, and might lead out of the folder
	}
	found, err := os.ReadDir(s.dir(id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(err)
	}
	for _, entry := range found {
		var f file
		if _, err := fmt.Sscanf(entry.Name(), "%d-%d.", &f.first, &f.last); err == nil && entry.Name() == f.name() {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.first, b.first) })
	last := uint64(0)
	return slices.DeleteFunc(files, func(f file) bool {
		isNext := f.first <= last+1 && f.last > last
		if isNext {
			last = f.last
		}
		return !isNext
	}), nil
}

func unreadable(err error) error {
	return fmt.Errorf("%w: the archive of events: %w", es.ErrUnavailable, err)
}

// archived yields the events with after < SeqNr <= upTo that the archive has, in order; with numbers, only those.
func (s *Store) archived(id es.AggregateID, after, upTo uint64, numbers ...uint64) iter.Seq2[es.Entry, error] {
	wanted := func(first, last uint64) bool {
		i, is := slices.BinarySearch(numbers, first)
		return len(numbers) == 0 || is || i < len(numbers) && numbers[i] <= last
	}
	return func(yield func(es.Entry, error) bool) {
		files, err := s.files(id)
		for _, f := range files {
			if err != nil {
				break
			}
			if f.last <= after || f.first > upTo || !wanted(f.first, f.last) {
				continue
			}
			var events []es.Entry
			events, err = s.read(id, f)
			for _, e := range events {
				if e.SeqNr <= after || e.SeqNr > upTo || !wanted(e.SeqNr, e.SeqNr) {
					continue
				}
				if after = e.SeqNr; !yield(e, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(es.Entry{}, err)
		}
	}
}

// read returns the events of a file. Its checksum is at its end.
func (s *Store) read(id es.AggregateID, f file) (events []es.Entry, err error) {
	err = readLines(os.DirFS(s.dir(id)), f.name(), func(e es.Entry) error {
		if want := f.first + uint64(len(events)); e.SeqNr != want {
			return fmt.Errorf("event %d is where %d should be", e.SeqNr, want)
		}
		events = append(events, e)
		return nil
	})
	if _, failed := errors.AsType[*fs.PathError](err); failed {
		return nil, unreadable(err)
	}
	if want := f.last - f.first + 1; err == nil && uint64(len(events)) != want {
		err = fmt.Errorf("it has %d events, and not %d", len(events), want)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the archive's file %s: %w; replace it by a copy", es.ErrDamaged, filepath.Join(s.dir(id), f.name()), err)
	}
	return events, nil
}

// write makes a file that is complete, or none. Its content is durable, and its name after sync. Who may read the
// archive's folder may read the file: programs that look for any event fail if they run as a user who may not.
func (s *Store) write(id es.AggregateID, events []es.Entry) error {
	readers := fs.FileMode(0o700)
	if folder, err := os.Stat(filepath.Clean(s.Folder)); err == nil {
		readers = folder.Mode() & (fs.ModePerm | fs.ModeSetgid)
	}
	dir := s.dir(id)
	if err := os.MkdirAll(dir, readers); err != nil {
		return err
	}
	for at := dir; at != filepath.Clean(s.Folder); at = filepath.Dir(at) {
		_ = os.Chmod(at, readers) // whatever the umask is; a folder of another user is as that made it
	}
	part, err := os.CreateTemp(dir, "*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }() // of a failure
	packed := gzip.NewWriter(part)
	lines := json.NewEncoder(packed)
	lines.SetEscapeHTML(false)
	for _, e := range events {
		err = errors.Join(err, lines.Encode(e))
	}
	if err := errors.Join(err, packed.Close(), part.Chmod(readers&0o666), part.Sync(), part.Close()); err != nil {
		return err
	}
	whole := file{events[0].SeqNr, events[len(events)-1].SeqNr}
	return os.Rename(part.Name(), filepath.Join(dir, whole.name()))
}

// sync makes the names of an aggregate's files durable, whoever made them.
func (s *Store) sync(id es.AggregateID) (err error) {
	for dir, root := s.dir(id), filepath.Clean(s.Folder); err == nil; dir = filepath.Dir(dir) {
		var names *os.File
		if names, err = os.Open(dir); err == nil {
			err = errors.Join(names.Sync(), names.Close())
		}
		if dir == root {
			break
		}
	}
	return err
}
