package model_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/interfaceadaptor/graphql/model"
	"example.com/threads/tests/kit"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// A schema field that is not filled from the row would always be empty.
func TestEveryFieldIsFilled(t *testing.T) {
	tenant, rows := es.Tenant(""), chat.NewRows()
	for number, history := range threadtest.Histories() {
		key := chat.ThreadKey(tenant, ident.New[thread.Thread](time.UnixMilli(int64(number+1)), [10]byte{1}))
		for i, event := range threadtest.Events(history) {
			change, err := chat.Fold(rows, projection.Event{Event: event, Envelope: es.Envelope{
				AggregateType: key.Type, AggregateID: key.ID, SeqNr: uint64(i + 1), OccurredAt: time.UnixMilli(int64(i + 1)),
				Caller: es.Caller{Executor: threadtest.People[0].String()},
			}})
			if err != nil {
				t.Fatal(err)
			}
			rows.Put(change)
		}
	}
	var threads []model.Thread
	siblings := new(model.Siblings)
	for _, row := range rows.Threads {
		threads = append(threads, model.NewThread(row, siblings))
	}
	kit.EveryOwnField(t, "Thread", threads...)
	kit.EveryOwnField(t, "Member", model.NewMembers(nil, tenant, slices.Collect(maps.Values(rows.Members))...)...)
	kit.EveryOwnField(t, "Message", model.NewMessages(nil, tenant, slices.Collect(maps.Values(rows.Messages))...)...)
	account := query.Account{ID: threadtest.People[0], Name: "Ada", Closed: true, Version: 2, CreatedAt: time.UnixMilli(1), UpdatedAt: time.UnixMilli(2)}
	kit.EveryOwnField(t, "Account", model.NewAccount(account))
}
