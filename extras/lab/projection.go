package lab

import (
	"context"

	"example.com/threads/es/projection"
)

// Projector implements run.Faults.
func (l *Lab) Projector(behind projection.Sink) projection.Sink {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return projector{behind, l, l.turn}
}

type projector struct {
	projection.Sink
	lab  *Lab
	turn context.Context
}

// Project passes a batch on with the active faults. Killing the projection cancels the batch in progress, and its
// transaction is rolled back.
func (p projector) Project(ctx context.Context, batch projection.Batch) (projection.Outcome, error) {
	ctx, end := p.lab.alive(ctx)
	defer end()
	// A batch in progress may outlive the turn for a while. A delayed batch must not.
	held, letGo := context.WithCancel(ctx)
	defer letGo()
	defer context.AfterFunc(p.turn, letGo)()
	if err := p.lab.await(held, func() bool { return !p.lab.paused }); err != nil {
		return projection.Outcome{}, err
	}
	batch.Records = p.lab.deliver(batch.Records)
	return p.Sink.Project(ctx, batch)
}

func (l *Lab) deliver(records []projection.Record) []projection.Record {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.breakNext && len(records) > 0 {
		l.breakNext = false
		l.broken.Break(records[0].Key, records[0].SeqNr)
	}
	delivered := deliveries[l.delivery].Deliver(records, l.random)
	for i, record := range delivered {
		delivered[i] = l.broken.Read(record)
	}
	return delivered
}

// Journal implements run.Faults: an unreadable event is also unreadable in the journal.
func (l *Lab) Journal(behind projection.Journal) projection.Journal { return l.broken.Journal(behind) }
