package dynamodbstreams

import (
	"context"
	"time"

	"example.com/threads/interfaceadaptor/stream"
)

// doubtAfter is how long the word of a shard's reader, that there was nothing to read, is believed. A reader that works
// renews it every PollMax or so.
const doubtAfter = time.Second

// Lag tells how far the read model is behind the journal. It is not fooled by standing still: that nothing happens is
// taken for "nothing to do" only when somebody has looked.
//
//   - A shard whose reader found nothing new within the last second is not behind.
//   - A shard with records that are read and not projected is as far behind as the oldest of them is old.
//   - Of any other shard - its reader is dead, stuck, fails, or waits for the parent - Lag finds out by itself: it
//     reads ahead from the shard's stored position with an iterator of its own and counts, up to 10,000 records in all, and
//     the shard is as far behind as the first record is old. Because that costs calls, and a shard has room for two readers,
//     the result is kept for some seconds, in which the age goes on growing.
//   - Where even that fails, the shard is as far behind as the last time is ago when it was known not to be.
//
// The whole is as far behind as the shard that is furthest. Before the source has reached its stream, and when it has no
// shard to read or fails to look for new ones, that is the time since then; and so it is while a repair is due, because
// what the stream forgot can be missing until the repair is done. Ages are told by the events' own times, and come out up to a minute too old where those
// can't be read.
func (s *Source) Lag(ctx context.Context) stream.Lag {
	state, now := s.meter.state(), time.Now()
	if state.turn.IsZero() {
		return stream.Lag{Behind: now.Sub(state.started), AtLeast: true}
	}
	lag := state.blind(now, s.settings.StallAfter+s.settings.DiscoverEvery)
	var doubtful []reading
	for _, shard := range state.shards {
		switch {
		case shard.pending == 0 && now.Sub(shard.clear) < doubtAfter:
		case now.Sub(shard.known) < doubtAfter:
			lag.Records += shard.pending
			lag.Behind = max(lag.Behind, now.Sub(shard.unprojected()))
		default:
			doubtful = append(doubtful, shard)
		}
	}
	if len(doubtful) == 0 {
		return lag
	}
	counts := s.ahead.look(ctx, state.stream, doubtful)
	for _, shard := range doubtful {
		found, looked := counts[shard.shard]
		switch {
		case !looked:
			lag.Records += shard.pending
			lag.AtLeast = true
			lag.Behind = max(lag.Behind, now.Sub(shard.unprojected()))
		case found.records > 0:
			lag.Records += found.records
			lag.AtLeast = lag.AtLeast || found.more
			lag.Behind = max(lag.Behind, now.Sub(later(found.first, shard.known)))
		}
	}
	return lag
}

// blind is the lag that follows from records that there may be and that nobody can see: in shards that nobody knows of,
// or forgotten by the stream.
func (s state) blind(now time.Time, patience time.Duration) stream.Lag {
	var lag stream.Lag
	since := func(at time.Time) {
		lag = stream.Lag{Behind: max(lag.Behind, now.Sub(at)), AtLeast: true}
	}
	if now.Sub(s.turn) > patience {
		since(s.turn)
	}
	if !s.hollow.IsZero() && now.Sub(s.hollow) > doubtAfter {
		since(s.hollow)
	}
	if !s.repair.IsZero() {
		since(s.repair)
	}
	return lag
}

// unprojected is the time that nothing unprojected is older than, as far as that can be told.
func (r reading) unprojected() time.Time {
	switch {
	case r.pending > 0:
		return later(r.oldest, r.known)
	case r.known.IsZero():
		return r.since
	}
	return r.known
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
