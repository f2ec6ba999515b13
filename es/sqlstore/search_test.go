package sqlstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
)

func TestSearch(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		one, two := newID(), newID()
		two.Tenant = "acme"
		begun := time.Now().UTC().Truncate(time.Second)
		var positions []uint64 // of all events, the latest first
		for n := range 6 {
			id := []es.AggregateID{one, two}[n%2]
			w := write(id, uint64(n/2), 1)
			w.Entries[0].EventType = fmt.Sprint("Type", n%3)
			w.Entries[0].CorrelationID, w.Entries[0].UserID = fmt.Sprint("request ", n), fmt.Sprint("user ", n)
			w.Entries[0].OccurredAt = begun.Add(time.Duration(n) * time.Second)
			mustAppend(t, gateway, w)
		}
		found, next, err := gateway.Search(t.Context(), es.AggregateID{}, es.Entry{}, time.Time{}, time.Time{}, 0, 10)
		if err != nil || len(found) != 6 || next != 0 || found[0].ID != two || found[0].SeqNr != 3 {
			t.Fatalf("%+v, %d, %v", found, next, err)
		}
		for _, each := range found {
			positions = append(positions, each.Position)
		}
		for about, c := range map[string]struct {
			id           es.AggregateID
			like         es.Entry
			since, until time.Time
			before       uint64
			limit        int
			want         []uint64
			next         uint64
		}{
			"a page":                  {limit: 2, want: positions[:2], next: positions[1]},
			"the next page":           {limit: 2, before: positions[1], want: positions[2:4], next: positions[3]},
			"the last page":           {limit: 2, before: positions[3], want: positions[4:], next: 0},
			"an aggregate":            {id: two, limit: 2, want: []uint64{3, 2}, next: 2},
			"the rest of it":          {id: two, limit: 2, before: 2, want: []uint64{1}},
			"of another tenant":       {id: es.AggregateID{Type: two.Type, ID: two.ID}, limit: 2},
			"a type":                  {like: es.Entry{EventType: "Type1"}, limit: 9, want: []uint64{positions[1], positions[4]}},
			"a request":               {like: es.Entry{CorrelationID: "request 2"}, limit: 9, want: positions[3:4]},
			"a user":                  {like: es.Entry{UserID: "user 0"}, limit: 9, want: positions[5:]},
			"both":                    {like: es.Entry{UserID: "user 0", EventType: "Type1"}, limit: 9},
			"a time":                  {since: begun.Add(time.Second), until: begun.Add(2 * time.Second), limit: 9, want: positions[3:5]},
			"a type of the aggregate": {id: one, like: es.Entry{EventType: "Type2"}, limit: 9, want: []uint64{2}},
		} {
			found, next, err := gateway.Search(t.Context(), c.id, c.like, c.since, c.until, c.before, c.limit)
			var got []uint64
			for _, each := range found {
				got = append(got, each.Position)
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) || next != c.next {
				t.Errorf("%s: %d, next %d, %v; want %d, next %d", about, got, next, err, c.want, c.next)
			}
		}
	})
}
