package eventstore

import (
	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/es/sqlqueue"
	"example.com/threads/es/sqlstore"
	"example.com/threads/infrastructure/config/stores"
)

// Source returns a source of the store's changes. Sources of one store share the readers of its stream. No argument is
// called before Run.
func (s *Store) Source(projector projection.Sink, checkpoints projection.Checkpoints, settings SourceSettings) (run.Source, error) {
	if s.settings.Kind == stores.DynamoDB {
		streams := settings.Streams
		streams.PollMin, streams.PollMax = settings.PollMin, settings.PollMax
		return dynamodbstreams.New(s.settings.JournalTable, dynamodbstreams.Ports{
			Places: s.places, Tables: s.aws, Streams: s.streams, Projector: projector, Checkpoints: checkpoints, Log: s.ports.Log,
		}, streams), nil
	}
	queue, err := sqlstore.NewQueue(s.db)
	if err != nil {
		return nil, err
	}
	return sqlqueue.New(
		sqlqueue.Ports{Queue: queue, Projector: projector, Checkpoints: checkpoints, Log: s.ports.Log},
		sqlqueue.Settings{PollMin: settings.PollMin, PollMax: settings.PollMax},
	), nil
}
