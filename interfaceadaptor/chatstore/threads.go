package chatstore

import (
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/threadcodec"
)

// ThreadRepository loads and saves threads.
type ThreadRepository = es.Repository[thread.Thread, thread.Event]

// NewThreadRepository returns the repository of threads over gateway.
func NewThreadRepository(gateway es.EventPersistenceGateway, settings es.Settings) *ThreadRepository {
	return es.NewRepository(gateway, threadcodec.Events(), threadcodec.Snapshots{}, thread.Thread.Apply, settings)
}
