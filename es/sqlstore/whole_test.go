package sqlstore_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/sqlstore"
)

// pagesAfter returns the pages of the whole journal after a position, which must hold each entry once and in order.
func pagesAfter(t *testing.T, gateway *sqlstore.Gateway, after string) (pages []es.JournalPage) {
	t.Helper()
	var last uint64
	for page, err := range gateway.ReadJournal(t.Context(), 0, 1, after) {
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range page.Entries {
			if entry.Position <= last {
				t.Fatalf("position %d comes after %d", entry.Position, last)
			}
			last = entry.Position
		}
		pages = append(pages, page)
	}
	return pages
}

func expectPages(t *testing.T, pages []es.JournalPage, sizes ...int) {
	t.Helper()
	var found []int
	for _, page := range pages {
		found = append(found, len(page.Entries))
	}
	if !slices.Equal(found, sizes) {
		t.Errorf("pages with %d entries, want %d", found, sizes)
	}
}

// A page has at most 16,000 entries, and a reader that stops goes on after the last page that it has read.
func TestPagesOfTheJournalHaveSomeEntries(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		id := newID()
		for version := uint64(0); version < 16000; version += 80 {
			mustAppend(t, gateway, write(id, version, 80))
		}
		expectPages(t, pagesAfter(t, gateway, ""), 16000)
		mustAppend(t, gateway, write(id, 16000, 1))
		pages := pagesAfter(t, gateway, "")
		expectPages(t, pages, 16000, 1)
		expectPages(t, pagesAfter(t, gateway, pages[0].Next), 1)
		expectPages(t, pagesAfter(t, gateway, pages[1].Next))
	})
}

// A page ends with the entry that brings it to 8 MiB, so that large entries do not fill the memory.
func TestPagesOfTheJournalHaveSomeBytes(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		id := newID()
		for version, size := range []int{4 << 20, 4<<20 - 1, 1, 4 << 20, 4 << 20, 1} {
			w := write(id, uint64(version), 1)
			w.Entries[0].Payload = bytes.Repeat([]byte("x"), size)
			mustAppend(t, gateway, w)
		}
		expectPages(t, pagesAfter(t, gateway, ""), 3, 2, 1)
	})
}
