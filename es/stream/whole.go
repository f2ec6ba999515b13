package stream

import (
	"context"
	"fmt"
	"iter"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// WholeJournalReader reads an event store's journal for rebuilds, whose port it fills.
type WholeJournalReader struct {
	*JournalReader
	whole es.WholeReader
}

var _ projection.WholeJournal = (*WholeJournalReader)(nil)

// NewWholeJournalReader returns a reader of journal, which must be able to be read as a whole.
func NewWholeJournalReader(journal es.Journal) (*WholeJournalReader, error) {
	whole, able := journal.(es.WholeReader)
	if !able {
		return nil, fmt.Errorf("an event store of type %T can't be read as a whole", journal)
	}
	return &WholeJournalReader{NewJournalReader(journal), whole}, nil
}

// Parts implements [projection.WholeJournal].
func (r *WholeJournalReader) Parts() int { return r.whole.JournalParts() }

// Read implements [projection.WholeJournal]. What names no aggregate is left out.
func (r *WholeJournalReader) Read(ctx context.Context, part, parts int, after string) iter.Seq2[projection.Page, error] {
	return func(yield func(projection.Page, error) bool) {
		for found, err := range r.whole.ReadJournal(ctx, part, parts, after) {
			page := projection.Page{Next: found.Next, Records: make([]projection.Record, 0, len(found.Entries))}
			for _, entry := range found.Entries {
				if key, err := KeyOf(entry.ID.Tenant.String(), entry.ID.Type, entry.ID.ID); err == nil {
					page.Records = append(page.Records, projection.Record{Key: key, SeqNr: entry.SeqNr, Payload: entry.Payload})
				}
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}
