package archive

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"

	"example.com/threads/es"
)

// Export is a journal on DynamoDB whose ReadJournal reads the files of a full export of its table to S3, in DynamoDB
// JSON. So a rebuild reads files first, and then of the table only the heads and what is new.
type Export struct {
	es.Journal
	Files fs.FS // of the export: manifest-files.json and the folder data
	Place func(pkey, skey string) (es.AggregateID, uint64, error)
}

// A page ends with the entry that reaches one of these limits. What it lacks of an aggregate is read from the table.
const (
	exportEntries = 16000
	exportBytes   = 8 << 20
)

// JournalParts implements [es.Journal]. There is one part: the entries of an aggregate may be in any of the files.
func (Export) JournalParts() int { return 1 }

// ReadJournal implements [es.Journal]. It has no positions, and always begins at the beginning. It fails when a file of
// the manifest is missing, or has another number of items.
func (e Export) ReadJournal(ctx context.Context, _, _ int, _ string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		var page es.JournalPage
		size, stopped := 0, errors.New("the reader has stopped")
		err := readLines(e.Files, "manifest-files.json", func(file struct {
			DataFileS3Key string
			ItemCount     int
		}) error {
			items := 0
			err := readLines(e.Files, path.Join("data", path.Base(file.DataFileS3Key)), func(line exported) error {
				if items++; line.Item.PKey.S == "" {
					return fmt.Errorf("item %d of %s has no key: a full export of the journal's table has one", items, file.DataFileS3Key)
				}
				id, seqNr, err := e.Place(line.Item.PKey.S, line.Item.SKey.S)
				if err != nil {
					return ctx.Err() // programs do not look for it there, either
				}
				payload := append(line.Item.Payload.B, line.Item.Payload.S...)
				page.Entries, size = append(page.Entries, es.Queued{ID: id, SeqNr: seqNr, Payload: payload}), size+len(payload)
				if len(page.Entries) == exportEntries || size >= exportBytes {
					if !yield(page, nil) {
						return stopped
					}
					page, size = es.JournalPage{}, 0
				}
				return ctx.Err()
			})
			if err == nil && items != file.ItemCount {
				err = fmt.Errorf("%s has %d items, and not the %d of the manifest: copy it again", file.DataFileS3Key, items, file.ItemCount)
			}
			return err
		})
		switch {
		case err == nil:
			yield(page, nil)
		case !errors.Is(err, stopped):
			yield(es.JournalPage{}, fmt.Errorf("read the export of the journal: %w", err))
		}
	}
}

// exported is a line of a file.
type exported struct {
	Item struct {
		PKey, SKey struct{ S string }
		Payload    struct {
			S string
			B []byte
		}
	}
}

// readLines decodes the lines of a file, which is compressed if its name ends with .gz.
func readLines[T any](files fs.FS, name string, each func(T) error) error {
	file, err := files.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	var lines io.Reader = bufio.NewReader(file)
	if path.Ext(name) == ".gz" {
		if lines, err = gzip.NewReader(lines); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for decoder := json.NewDecoder(lines); ; {
		var line T
		switch err := decoder.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := each(line); err != nil {
			return err
		}
	}
}
