package projectiontest

import (
	"fmt"
	mathrand "math/rand/v2"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// tb is the part of testing.TB that stories need; *rapid.T has it, too.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// story builds a ledger in a journal.
type story struct {
	journal *Journal
	key     es.AggregateID
	lines   []uint64 // the seq_nrs of the events that wrote a line
}

const ledgerType = "ledger"

// begin starts a ledger of a tenant with one line.
func begin(t tb, journal *Journal, tenant string) *story {
	t.Helper()
	return beginAs(t, journal, ledgerType, tenant)
}

func beginAs(t tb, journal *Journal, aggregateType, tenant string) *story {
	t.Helper()
	code, err := es.ParseTenant(tenant)
	if err != nil {
		t.Fatalf("tenant %q: %v", tenant, err)
	}
	s := &story{journal: journal, key: es.AggregateID{Tenant: code, Type: aggregateType, ID: ulid.Make().String()}}
	s.write("a ledger \U0001F600")
	return s
}

func (s *story) version() uint64 { return uint64(len(s.journal.Of(s.key))) }

// append adds an event.
func (s *story) append(said entry) {
	s.journal.Append(projection.Event{
		Envelope: es.Envelope{
			EventID: ulid.Make().String(), AggregateType: s.key.Type, AggregateID: s.key.ID, SeqNr: s.version() + 1,
			Caller: es.Caller{Tenant: s.key.Tenant},
		},
		Event: said,
	})
}

// write adds an event that writes a line.
func (s *story) write(text string) {
	s.append(entry{Text: text})
	s.lines = append(s.lines, s.version())
}

// anything adds a random event.
func (s *story) anything(random *mathrand.Rand) {
	text := fmt.Sprintf("text %d \U0001F600 \\ ' \" \n%%s?", random.IntN(1000))
	if random.IntN(3) == 0 {
		s.append(entry{Text: text, Edits: s.lines[random.IntN(len(s.lines))]})
	} else {
		s.write(text)
	}
}

// records returns the ledger's events from one seq_nr to another as a source delivers them.
func (s *story) records(from, to uint64) []projection.Record {
	var records []projection.Record
	for _, event := range s.journal.Of(s.key) {
		if event.SeqNr >= from && event.SeqNr <= to {
			records = append(records, recordOf(event))
		}
	}
	return records
}

func (s *story) all() []projection.Record { return s.records(1, s.version()) }

func recordOf(event projection.Event) projection.Record {
	return projection.Record{Key: event.Aggregate(), SeqNr: event.SeqNr, Payload: encode(event)}
}
