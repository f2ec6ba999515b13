package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
	"example.com/threads/extras/observe/awscalls"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/usecase/chat"
)

// unitsPosts is the number of posts that are averaged.
const unitsPosts = 25

// writeUnits measures the write units of a post to a thread of 100,000 messages and to a small one, from DynamoDB's
// answers. They include the post's share of the snapshots.
func writeUnits(ctx context.Context, _ *lab) ([]reading, error) {
	tables, err := newTables(ctx, false)
	if err != nil {
		return nil, err
	}
	var meter unitMeter
	if tables.client, err = newSDKClient(ctx, awscalls.CountCapacity(meter.count)); err != nil {
		return nil, err
	}
	var units [2]float64
	for i, messages := range []int{largeThread, smallThread} {
		if units[i], err = tables.unitsOfAPost(ctx, &meter, messages); err != nil {
			return nil, err
		}
	}
	return []reading{{"write.growth.units", "write units/post", units[0], units[1], ofSmall, "HTTP, stream"}}, nil
}

// unitsOfAPost creates a thread and returns the write units of a post to it.
func (t *testTables) unitsOfAPost(ctx context.Context, meter *unitMeter, messages int) (_ float64, err error) {
	poster, err := t.newPoster()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, poster.end(ctx)) }()
	id, err := poster.create(ctx)
	if err != nil {
		return 0, err
	}
	if err := poster.fill(ctx, id, messages); err != nil {
		return 0, err
	}
	// Use another poster: the first one's cache still has the thread as a new one.
	other, err := t.newPoster()
	if err != nil {
		return 0, err
	}
	other.user = poster.user
	key := es.AggregateID{Type: thread.AggregateType, ID: id}
	state, err := other.service.Load(ctx, key)
	if err != nil {
		return 0, err
	}
	var snapshot float64
	for range 3 { // the third snapshot replaces one, which is deleted
		if err := other.post(ctx, id); err != nil {
			return 0, err
		}
		if state, err = other.service.Load(ctx, key); err != nil {
			return 0, err
		}
		meter.take()
		if err := other.service.SaveSnapshot(ctx, key, state); err != nil {
			return 0, err
		}
		snapshot = meter.take()
	}
	for range unitsPosts {
		if err := other.post(ctx, id); err != nil {
			return 0, err
		}
	}
	return meter.take()/unitsPosts + snapshot/float64(other.service.SnapshotDistance(state.Value)), other.end(ctx)
}

// fill appends messages to a new thread, as many per write as allowed.
func (p *commandPoster) fill(ctx context.Context, id string, messages int) error {
	codec := eventjson.Threads().Events
	for version := uint64(1); version <= uint64(messages); {
		var entries []es.Entry
		for range min(es.MaxAppend-1, messages+1-int(version)) {
			seqNr := version + uint64(len(entries)) + 1
			recorded := es.Recorded[thread.Event]{
				Envelope: es.Envelope{
					EventID: ulid.Make().String(), AggregateType: thread.AggregateType, AggregateID: id, SeqNr: seqNr,
					OccurredAt: time.Now().UTC().Truncate(time.Microsecond), Caller: es.Caller{Executor: p.user.String(), Source: "bench"},
				},
				Event: thread.MessagePosted{Message: thread.Message{
					ID: ident.FromULID[thread.Message](ulid.Make()), Sender: p.user, Text: thread.RecordedText("hello"),
				}},
			}
			payload, err := codec.Encode(recorded)
			if err != nil {
				return err
			}
			entries = append(entries, es.Entry{
				SeqNr: seqNr, EventID: recorded.EventID, EventType: codec.EventType(recorded.Event), OccurredAt: recorded.OccurredAt, UserID: p.user.String(), Payload: payload,
			})
		}
		key := es.AggregateID{Type: thread.AggregateType, ID: id}
		if err := p.gateway.Append(ctx, es.Append{ID: key, ExpectedVersion: version, Entries: entries}); err != nil {
			return err
		}
		version += uint64(len(entries))
	}
	return nil
}

// unitMeter adds up write units.
type unitMeter struct {
	mutex sync.Mutex
	units float64
}

func (m *unitMeter) count(_, _, operation string, units float64) {
	if strings.Contains(operation, "Get") || operation == "Query" {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.units += units
}

// take returns the units since the last call.
func (m *unitMeter) take() float64 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	units := m.units
	m.units = 0
	return units
}

// commandPoster sends commands without HTTP.
type commandPoster struct {
	gateway *dynamodb.Gateway
	service *chat.ThreadCommands
	user    ident.UserID
}

func (t *testTables) newPoster() (*commandPoster, error) {
	quiet := slog.New(slog.DiscardHandler)
	gateway, err := dynamodb.New(t.client, dynamodb.Settings{JournalTable: t.journal, SnapshotTable: t.snapshot, SnapshotKeep: 1})
	if err != nil {
		return nil, err
	}
	service := es.NewService(eventjson.Threads(), gateway, es.Settings{Logger: quiet})
	return &commandPoster{gateway, service, ident.FromULID[ident.UserAccount](ulid.Make())}, nil
}

func (p *commandPoster) end(ctx context.Context) error {
	return p.service.Close(context.WithoutCancel(ctx))
}

// create creates a thread and returns its id.
func (p *commandPoster) create(ctx context.Context) (string, error) {
	id, member := ulid.Make().String(), ident.FromULID[thread.Member](ulid.Make())
	return id, p.handle(ctx, id, true, thread.Create{Executor: p.user, Member: member, Name: writing.RecordedName("busy")})
}

func (p *commandPoster) post(ctx context.Context, id string) error {
	message := ident.FromULID[thread.Message](ulid.Make())
	return p.handle(ctx, id, false, thread.PostMessage{Executor: p.user, Message: message, Text: thread.RecordedText("hello")})
}

func (p *commandPoster) handle(ctx context.Context, id string, begins bool, wanted thread.Command) error {
	_, err := p.service.Handle(ctx, es.Request[thread.Command]{
		Caller: es.Caller{Executor: p.user.String(), Source: "bench"}, ID: id, Begins: begins, Command: wanted, Name: thread.CommandName(wanted),
	})
	return err
}
