package projection

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// endOfJournal is the target of a gap that reaches as far as the journal.
const endOfJournal = math.MaxUint64

const journalAttempts = 3

// fill closes gaps from the journal, in order, with at most FillEvents events in a transaction. The checkpoint is
// stored with the last one.
func (p *Projector) fill(ctx context.Context, gaps []gap, checkpoint Checkpoint) (Outcome, error) {
	var total Outcome
	var chunk []run
	room := p.options.FillEvents
	// flush applies the chunk, and tells the gaps that it found.
	flush := func(checkpoint Checkpoint) (pass, error) {
		done, err := p.applyAll(ctx, chunk, checkpoint)
		total = total.plus(done.outcome)
		chunk, room = nil, p.options.FillEvents
		return done, err
	}

	for len(gaps) > 0 {
		next := gaps[0]
		piece, err := p.read(ctx, next, room)
		if err != nil {
			return total, err
		}
		chunk = append(chunk, piece)
		room -= len(piece.events)
		if piece.complete || piece.failure != nil {
			gaps = gaps[1:]
		} else {
			gaps[0].after = lastOf(piece)
		}
		if room > 0 && len(gaps) > 0 {
			continue
		}

		last := len(gaps) == 0
		toStore := Checkpoint{}
		if last {
			toStore = checkpoint
		}
		done, err := flush(toStore)
		if err != nil {
			return total, err
		}
		if !last && done.stopped[gaps[0].key] {
			gaps = gaps[1:]
			if len(gaps) == 0 {
				if _, err := flush(checkpoint); err != nil {
					return total, err
				}
			}
		}
		gaps = append(gaps, done.gaps...)
	}
	return total, nil
}

// read reads a piece of a gap, of at most room events. What keeps it from going on is the piece's failure, not an
// error: it stops this thread and nothing else. The error is ctx's.
func (p *Projector) read(ctx context.Context, gap gap, room int) (run, error) {
	piece := run{key: gap.key, target: gap.target, origin: gap.origin}
	version := gap.after
	for attempt := 1; ; attempt++ {
		err := p.readOn(ctx, gap, room, &piece)
		if ctx.Err() != nil {
			return piece, context.Cause(ctx)
		}
		if len(piece.events) > 0 {
			version = lastOf(piece)
		}
		var unreadable *UnreadableError
		switch {
		case errors.As(err, &unreadable):
			piece.failure = &failure{seqNr: unreadable.SeqNr, eventID: unreadable.EventID, payload: unreadable.Payload, cause: err}
		case err != nil && attempt < journalAttempts:
			if err := wait(ctx, pauseBefore(attempt, retryPause, longestRetryPause)); err != nil {
				return piece, err
			}
			gap.after = version
			continue
		case err != nil:
			failed := unreachable(version, err)
			piece.failure = &failed
		case piece.complete && version < gap.target && gap.target != endOfJournal:
			piece.failure = &failure{seqNr: version + 1, cause: fmt.Errorf(
				"the source told of event %d, and the journal ends with event %d", gap.target, version)}
		}
		return piece, nil
	}
}

// readOn adds events to piece until the gap is closed, the journal ends - then piece is complete - or room is used up.
func (p *Projector) readOn(ctx context.Context, gap gap, room int, piece *run) error {
	if gap.after >= gap.target {
		piece.complete = true
		return nil
	}
	for event, err := range p.journal.EventsAfter(ctx, gap.key, gap.after) {
		if err != nil {
			return err
		}
		piece.events = append(piece.events, event)
		if event.SeqNr >= gap.target {
			break
		}
		if len(piece.events) >= room {
			return nil
		}
	}
	piece.complete = true
	return nil
}

// unreachable is the failure of a thread whose events behind version the journal does not give.
func unreachable(version uint64, err error) failure {
	return failure{seqNr: version + 1, cause: fmt.Errorf("the journal can't be read: %w", err)}
}
