// Package chatrows stores the rows of usecase/chat in the read model's tables, which queryreader reads.
package chatrows

import (
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/usecase/chat"
)

// Projection is the name of the read model's projection.
const Projection = "read-model"

// Tables are the names of the tables that the handlers keep rows in.
func Tables() []string {
	return []string{
		Threads.Name,  // extra:chat
		Members.Name,  // extra:chat
		Messages.Name, // extra:chat
		Accounts.Name, // extra:chat
	}
}

// Handlers returns all handlers of the read model.
func Handlers() []projection.Handler {
	return []projection.Handler{
		threadRows{eventjson.Threads()}, // extra:chat
		rowstore.OneRow(Accounts, eventjson.Accounts().Events, chat.AccountRowsVersion, chat.NextAccount), // extra:chat
	}
}
