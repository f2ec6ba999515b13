package rest

import (
	"crypto/rand"
	"time"

	"example.com/threads/domain/ident"
)

// The request bodies. All fields without omitempty are required (fields.go). Here requests become commands and get
// the ids of the things that they create.

// Executor is the acting user account.
type Executor struct {
	ID ident.UserID `json:"executor_id" doc:"The user account that acts."`
}

func (e Executor) executor() ident.UserID { return e.ID }

// newID returns a new id for something that a command creates.
func newID[T any]() ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails, as documented
	return ident.New[T](time.Now(), entropy)
}
