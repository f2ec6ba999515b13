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

// NewThreadRepository returns the repository of threads over gateway.
func NewThreadRepository(gateway eventstore.EventPersistenceGateway, settings repository.Settings) *ThreadRepository {
	return repository.New(gateway, threadcodec.Events(), threadcodec.Snapshots{}, thread.Thread.Apply, settings)
}
