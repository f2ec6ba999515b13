package command

import (
	"context"
	"sync"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
)

// Service handles commands. It may be used concurrently; [Service.Drain] ends it.
type Service struct {
	repository Repository
	settings   Settings

	mutex   sync.Mutex
	queues  map[usecase.Key]*queue
	running sync.WaitGroup
}

// Settings are what a Service can be told. The zero value of a field stands for its default.
type Settings struct {
	// Timeout bounds the handling of a batch of commands, all retries included. Default: 5 s.
	Timeout time.Duration
	// Attempts is how often a command is decided when others keep changing the thread, before it is given up with
	// [usecase.ErrConcurrentUpdate]. Default: 10.
	Attempts int
	// ReceiptLifetime is how long a repeat with the same idempotency key gets the first answer. Default: 48 h.
	ReceiptLifetime time.Duration
	// Clock tells the time. Default: time.Now.
	Clock func() time.Time
}

func (s Settings) withDefaults() Settings {
	if s.Timeout == 0 {
		s.Timeout = 5 * time.Second
	}
	if s.Attempts == 0 {
		s.Attempts = 10
	}
	if s.ReceiptLifetime == 0 {
		s.ReceiptLifetime = 48 * time.Hour
	}
	if s.Clock == nil {
		s.Clock = time.Now
	}
	return s
}

// NewService returns a service that keeps threads in repository.
func NewService(repository Repository, settings Settings) *Service {
	settings = settings.withDefaults()
	return &Service{
		repository: repository,
		settings:   settings,
		queues:     map[usecase.Key]*queue{},
	}
}

// Handle applies a command and returns when its event is in the journal, or it is rejected. A rejection - one of
// [thread.Rejections], a [usecase.VersionMismatchError] or [usecase.ErrKeyReused] - was true of the latest state.
// After [usecase.ErrConcurrentUpdate] nothing has happened; after [usecase.ErrUnavailable], or when ctx ends first, the
// outcome is unknown, and a repeat with the same idempotency key settles it.
func (s *Service) Handle(ctx context.Context, request Request) (Result, error) {
	c := &call{
		ctx:       ctx,
		request:   request,
		command:   s.complete(request.Command),
		commandID: s.commandID(request),
		answered:  make(chan struct{}),
	}
	key := chat.ThreadKey(request.Caller.Tenant, request.Thread)
	if _, begins := request.Command.(thread.Create); begins {
		key.ID = newID[thread.Thread](s).String()
	}
	s.enqueue(key, c)
	select {
	case <-c.answered:
		return c.result, c.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Snapshot stores a snapshot of the thread's latest state and returns its version. It is an operation: no event
// follows. A thread that does not exist or is deleted is rejected.
func (s *Service) Snapshot(ctx context.Context, caller usecase.Caller, id thread.ID) (uint64, error) {
	key := chat.ThreadKey(caller.Tenant, id)
	state, err := s.repository.Reload(ctx, key)
	switch {
	case err != nil:
		return 0, err
	case state.Version() == 0:
		return 0, thread.ErrThreadNotFound
	case state.Deleted():
		return 0, thread.ErrThreadDeleted
	}
	return state.Version(), s.repository.SaveSnapshot(ctx, key, state)
}

// Drain waits for the commands that were taken and are still being handled, those included whose callers have gone.
// No command may be handed in after it.
func (s *Service) Drain() { s.running.Wait() }
