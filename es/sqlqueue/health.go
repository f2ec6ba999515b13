package sqlqueue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/threads/es/projection"
)

// sourceState is the status of a source.
type sourceState struct {
	started  time.Time
	located  bool
	position uint64    // everything up to it is projected
	moved    time.Time // time of the last successful read or batch
	trouble  error     // the last failure since then
}

// meter guards the state for concurrent readers.
type meter struct {
	mutex sync.Mutex
	state sourceState
}

func (m *meter) change(change func(*sourceState)) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	change(&m.state)
}

func (m *meter) locate(position uint64) {
	m.change(func(s *sourceState) { s.located, s.position, s.moved, s.trouble = true, position, time.Now(), nil })
}

func (m *meter) moveTo(position uint64) {
	m.change(func(s *sourceState) { s.position, s.moved, s.trouble = position, time.Now(), nil })
}

func (m *meter) step()          { m.change(func(s *sourceState) { s.moved, s.trouble = time.Now(), nil }) }
func (m *meter) fail(err error) { m.change(func(s *sourceState) { s.trouble = err }) }

func (m *meter) read() (now sourceState) {
	m.change(func(s *sourceState) { now = *s })
	return now
}

// Lag returns how far the read model is behind the event store, which is queried directly, whatever state the source is
// in. If the query fails, it is the time since the source's last success.
func (s *Source) Lag(ctx context.Context) projection.Lag {
	state := s.meter.read()
	if !state.located {
		return projection.Lag{Behind: time.Since(state.started), AtLeast: true}
	}
	backlog, err := s.ports.Queue.Backlog(ctx, state.position)
	switch {
	case err != nil:
		return projection.Lag{Behind: time.Since(state.moved), AtLeast: true}
	case backlog.Records == 0:
		return projection.Lag{}
	}
	return projection.Lag{Behind: max(0, time.Since(backlog.Oldest)), Records: backlog.Records}
}

// errSilent is the reason when nothing has failed yet.
var errSilent = errors.New("no answer so far")

// Health returns nil while the source makes progress: within Settings.StallAfter it has read the queue, even if there
// was nothing new, or projected a batch. Being behind is not a fault; standing still is. The error says what is stuck,
// and why.
func (s *Source) Health() error {
	state := s.meter.read()
	if state.trouble == nil {
		state.trouble = errSilent
	}
	if !state.located {
		return fmt.Errorf("the event store or the read model has not been reached yet: %w", state.trouble)
	}
	if idle := time.Since(state.moved); idle > s.settings.StallAfter {
		return fmt.Errorf("no progress in the queue of events after position %d for %s: %w", state.position, idle.Round(time.Second), state.trouble)
	}
	return nil
}
