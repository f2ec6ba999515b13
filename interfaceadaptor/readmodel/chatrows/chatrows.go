// Package chatrows stores the rows of threads and accounts in the read model's tables, for the projection
// (usecase/chat), and keeps what the process manager [chat.LeaveOnClose] knows. queryreader reads the same tables.
package chatrows

import (
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// Projection is the name of the read model's projection.
const Projection = "read-model"

// The tables of the read model, for writing and reading. Tags of the rows name their columns.
var (
	Threads  = table.Of[query.Thread]("threads", 2)
	Members  = table.Of[query.Member]("members", 2)
	Messages = table.Of[query.Message]("messages", 2)
	Accounts = table.Of[query.Account]("accounts", 2)
)

// Tables are the names of the tables that the handlers keep rows in.
func Tables() []string {
	return []string{
		Threads.Name,
		Members.Name,
		Messages.Name,
		Accounts.Name,
	}
}

// Handlers returns all handlers of the read model.
func Handlers() []projection.Handler {
	return []projection.Handler{
		threadRows{eventsOf{eventjson.Threads()}},
		rowstore.OneRow(Accounts, eventjson.Accounts().Events, chat.AccountRowsVersion, chat.NextAccount),
	}
}

// eventsOf is what a handler knows of the events of its aggregate type.
type eventsOf struct{ es.AnyAggregate }

// Decode implements [projection.Handler].
func (e eventsOf) Decode(payload []byte) (projection.Event, error) { return e.DecodeEvent(payload) }
