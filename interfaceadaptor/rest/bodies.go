package rest

import (
	"crypto/rand"
	"time"

	"example.com/threads/domain/ident"
)

// The request bodies. All fields are required and decode themselves (fields.go). Here requests become commands and get
// the ids of the things that they create.

// Executor is the acting user account.
type Executor struct {
	ID userID `json:"executor_id" doc:"The user account that acts."`
}

func (e Executor) executor() ident.UserID { return e.ID.value }

// newID returns a new id for something that a command creates.
func newID[T any]() ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails, as documented
	return ident.New[T](time.Now(), entropy)
}
