package chatstore

import (
	"example.com/threads/domain/thread"
	"example.com/threads/es/command"
	"example.com/threads/es/eventstore"
	"example.com/threads/es/repository"
	"example.com/threads/interfaceadaptor/threadcodec"
)

// ThreadRepository loads and saves threads.
type ThreadRepository = repository.Repository[thread.Thread, thread.Event]

var _ command.Repository[thread.Thread, thread.Event] = (*ThreadRepository)(nil)

// NewThreadHistory returns a repository of threads over gateway whose states have the number of every event in them, so
// that history can be read. A snapshot of an earlier format is not used: the thread is replayed from its first event.
func NewThreadHistory(gateway eventstore.EventPersistenceGateway, settings repository.Settings) *ThreadRepository {
	return repository.New(gateway, threadcodec.Events(), threadcodec.NumberedSnapshots{}, thread.Thread.Apply, settings)
}

// NewThreadRepository returns the repository of threads over gateway.
func NewThreadRepository(gateway eventstore.EventPersistenceGateway, settings repository.Settings) *ThreadRepository {
	return repository.New(gateway, threadcodec.Events(), threadcodec.Snapshots{}, thread.Thread.Apply, settings)
}
