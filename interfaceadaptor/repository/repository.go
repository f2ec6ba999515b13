package repository

import (
	"context"
	"errors"
	"log/slog"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/command"
)

// One Save must fit in one Append.
const _ = uint(eventstore.MaxAppend - 2*command.MaxBatch)

// ThreadRepository keeps threads in an event store; it fills usecase/command's port. It remembers the states of
// recently used threads. A remembered state may be behind the journal but never beside it: it is a beginning of the thread's
// history, and the events that followed bring it up to date.
type ThreadRepository struct {
	gateway     eventstore.EventPersistenceGateway
	states      *stateCache
	snapshotter *snapshotter
}

var _ command.Repository = (*ThreadRepository)(nil)

// Settings are what a ThreadRepository can be told. The zero value of a field stands for its default.
type Settings struct {
	// SnapshotEvery is the number of events after which a thread gets another snapshot. Default: 100.
	SnapshotEvery uint64
	// CacheSize bounds the states that are remembered, by the members and messages in them. Default: 1,000,000, which
	// takes about 300 MB.
	CacheSize uint64
	// Logger is told of snapshots that can't be written or read. Default: slog.Default().
	Logger *slog.Logger
}

func (s Settings) withDefaults() Settings {
	if s.SnapshotEvery == 0 {
		s.SnapshotEvery = 100
	}
	if s.CacheSize == 0 {
		s.CacheSize = 1_000_000
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	return s
}

// New returns a repository over gateway. [ThreadRepository.Close] ends it.
func New(gateway eventstore.EventPersistenceGateway, settings Settings) *ThreadRepository {
	settings = settings.withDefaults()
	states := newStateCache(settings.CacheSize)
	return &ThreadRepository{
		gateway:     gateway,
		states:      states,
		snapshotter: newSnapshotter(gateway, states, settings),
	}
}

// Close writes the snapshots that are due and ends the repository; with ctx's end those that are left are given up,
// which costs time at the next load and nothing else.
func (r *ThreadRepository) Close(ctx context.Context) error { return r.snapshotter.close(ctx) }

// Save appends the events to the journal. A snapshot that has become due is written afterwards, in the background.
func (r *ThreadRepository) Save(ctx context.Context, key usecase.Key, before thread.Thread, events []usecase.Recorded[thread.Event], receipts []command.Receipt) error {
	write := eventstore.Append{ID: aggregateOf(key), ExpectedVersion: before.Version()}
	after := before
	for _, event := range events {
		entry, err := entryOf(event)
		if err != nil {
			return err
		}
		write.Entries = append(write.Entries, entry)
		after = after.Apply(event.Event)
		if after.Version() == 1 {
			if write.FirstSnapshot, err = eventcodec.EncodeSnapshot(chat.ThreadID(key), after); err != nil {
				return err
			}
		}
	}
	for _, receipt := range receipts {
		stored, err := storedReceipt(receipt)
		if err != nil {
			return err
		}
		write.Receipts = append(write.Receipts, stored)
	}

	err := r.gateway.Append(ctx, write)
	var handled *eventstore.HandledError
	switch {
	case errors.Is(err, eventstore.ErrConflict):
		return command.ErrConflict
	case errors.As(err, &handled):
		receipt, err := commandReceipt(handled.Receipt)
		if err != nil {
			return err
		}
		return &command.HandledError{Receipt: receipt}
	case err != nil:
		return err
	}
	r.snapshotter.saved(ctx, key, r.states.remember(key, after, r.presumed(key, before)))
	return nil
}

// presumed is the snapshot that a thread is presumed to have when it has been forgotten since it was loaded, and with it
// when it last got one: the latest that was ever due. So it gets the next one when that is due, remembered or not.
func (r *ThreadRepository) presumed(key usecase.Key, before thread.Thread) uint64 {
	if _, found := r.states.get(key); found {
		return 0 // what is known is later
	}
	every := r.snapshotter.every
	return before.Version() / every * every
}

// Receipt looks up what was written under a command's id.
func (r *ThreadRepository) Receipt(ctx context.Context, tenant usecase.Tenant, commandID string) (command.Receipt, bool, error) {
	stored, found, err := r.gateway.Receipt(ctx, tenant.String(), commandID)
	if err != nil || !found {
		return command.Receipt{}, false, err
	}
	receipt, err := commandReceipt(stored)
	return receipt, err == nil, err
}

// SaveSnapshot writes a snapshot now.
func (r *ThreadRepository) SaveSnapshot(ctx context.Context, key usecase.Key, state thread.Thread) error {
	return r.snapshotter.write(ctx, key, state)
}
