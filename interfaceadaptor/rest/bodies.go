package rest

import (
	"crypto/rand"
	"time"

	"example.com/threads/domain/ident"
)

// The request bodies. All fields are required. Their types know how to read themselves (fields.go). Here requests
// become commands, and get the ids of what they bring into being.

// Executor is who acts.
type Executor struct {
	ID userID `json:"executor_id" doc:"The user account that acts."`
}

func (e Executor) executor() ident.UserID { return e.ID.value }

// newID makes the id of something that a command brings into being.
func newID[T any]() ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails: it says so
	return ident.New[T](time.Now(), entropy)
}
