package rest

import (
	"crypto/rand"
	"time"

	"example.com/threads/domain/ident"
)

// The request bodies. All fields without omitempty are required (fields.go). Here requests become commands and get
// the ids of the things that they create.

// By is the acting user account. Every body embeds it.
type By struct {
	Executor ident.UserID `json:"executor_id" doc:"The user account that acts."`
}

func (b By) executor() ident.UserID { return b.Executor }

// NewID returns a new id for something that a command creates.
func NewID[T any]() ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails, as documented
	return ident.New[T](time.Now(), entropy)
}

// ExecutorOf returns the user account that a JSON body names as its executor; zero: none, or it can't be read.
func ExecutorOf(body []byte) (executor ident.UserID) {
	members, _ := membersOf(body)
	if named := members.take(executorField); len(named) != 1 || readID(&executor, named[0]) != nil {
		return ident.UserID{}
	}
	return executor
}
