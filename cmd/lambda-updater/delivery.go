package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/es"
	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/extras/publishing" // extra:publishing
)

// handler answers the invocations of one environment, which follow each other. It has no turn and no checkpoints: any
// number of environments may work at the same time, also beside a read-model-updater, and the positions of the
// aggregates keep the rows right.
type handler struct {
	settings
	log       *slog.Logger
	figuresTo io.Writer
	piece     int // how many changes are projected at once
	journal   es.Journal
	stream    dynamodbstreams.Ports // with a Place, for its records
	processes []run.Process
	publish   publishing.Publish // extra:publishing

	rows *sqlx.DB // nil: the databases could not be reached yet
	consumers
	outdated int // aggregate types whose rows were made by another version of the program
	tended   time.Time
}

// consumers follow the stream.
type consumers struct {
	projectors []*projection.Projector // the read model's, and those of the processes
	stores     []*rowstore.Store       // theirs
	outboxes   []*process.Outbox       // of the processes
}

// begin must succeed before the first invocation. It may be called again, to read from the database what is due; if
// that fails, the consumers stay as they are.
func (h *handler) begin(ctx context.Context, rows *sqlx.DB) error {
	var made consumers
	add := func(rows *rowstore.Store, store projection.Store, options projection.Options, handlers []projection.Handler) {
		options.Ignore, options.Logger, options.OnlyDue = append(options.Ignore, h.ignore...), h.log, true
		made.projectors = append(made.projectors, projection.New(store, h.journal, options, handlers...))
		made.stores = append(made.stores, rows)
	}
	if h.publish != nil { // extra:publishing {
		store, err := rowstore.New(rows, publishing.Projection)
		if err != nil {
			return err
		}
		add(store, publishing.New(store, h.publish), projection.Options{Attempts: publishing.Attempts}, publishing.Handlers(system.Types()))
	} else { // extra:publishing }
		model := system.ReadModel()
		rebuild, err := model.Rebuild(rows, h.journal, 0, h.log)
		if err != nil {
			return err
		}
		outdated, err := rebuild.Outdated(ctx) // it stores the versions before there are rows
		if err != nil {
			return err
		}
		if h.outdated = len(outdated); h.outdated > 0 {
			h.log.ErrorContext(ctx, "the rows were made by another version of this program: rebuild them", "aggregate_types", outdated)
		}
		add(rebuild.Store, rebuild.Store, projection.Options{}, model.Handlers)
		for _, p := range h.processes {
			store, err := rowstore.New(rows, p.Name)
			if err != nil {
				return err
			}
			outbox := process.New(rows, store, p.Name, h.log)
			made.outboxes = append(made.outboxes, outbox)
			add(store, store, projection.Options{Ignore: model.Types()}, p.Handlers(outbox))
		}
	} // extra:publishing
	if err := made.each(func(p *projection.Projector) error { return p.Begin(ctx, false) }); err != nil {
		return err
	}
	h.rows, h.consumers = rows, made
	return nil
}

// each works with all projectors at the same time.
func (c consumers) each(work func(*projection.Projector) error) error {
	var all errgroup.Group
	for _, projector := range c.projectors {
		all.Go(func() error { return work(projector) })
	}
	return all.Wait()
}

const (
	tendEvery = 5 * time.Second // in a busy environment
	// settleWithin is for what else is due after a delivery: its shard waits. The schedule's invocation does the rest.
	settleWithin = 2 * time.Second
	// horizon is half of the time that the stream keeps changes. Who reads older ones may have missed some before them:
	// the next invocation by the schedule compares the rows with the journal.
	horizon = 12 * time.Hour
)

// deliver projects changes of the journal table. It names the first that is not done; if none is, it fails.
func (h *handler) deliver(ctx context.Context, changes []events.DynamoDBEventRecord) ([]events.DynamoDBBatchItemFailure, error) {
	slices.SortStableFunc(changes, func(a, b events.DynamoDBEventRecord) int { // the numbers are decimal, of any length
		x, y := strings.TrimLeft(a.Change.SequenceNumber, "0"), strings.TrimLeft(b.Change.SequenceNumber, "0")
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	})
	if oldest := changes[0].Change.ApproximateCreationDateTime; !oldest.IsZero() && time.Since(oldest.Time) > horizon {
		if err := h.each(func(p *projection.Projector) error { return p.OweRepair(ctx) }); err != nil {
			return nil, err
		}
	}
	for from := 0; from < len(changes); from += h.piece {
		batch := projection.Batch{Records: h.recordsOf(ctx, changes[from:min(from+h.piece, len(changes))])}
		err := h.each(func(p *projection.Projector) error { _, err := p.Project(ctx, batch); return err })
		if err != nil {
			h.log.WarnContext(ctx, "a batch is to be delivered again", "changes", len(changes), "done", from, "error", err)
			if from == 0 {
				return nil, err
			}
			return []events.DynamoDBBatchItemFailure{{ItemIdentifier: changes[from].Change.SequenceNumber}}, nil
		}
	}
	settling, stop := context.WithTimeout(ctx, settleWithin)
	defer stop()
	if err := h.settle(settling, changes[len(changes)-1].Change.ApproximateCreationDateTime.Time); err != nil && settling.Err() == nil {
		h.log.WarnContext(ctx, "retrying parked aggregates or sending commands failed; both are due again in the next invocation", "error", err)
	}
	return nil, nil
}

// recordsOf converts changes. Those that are neither new entries of the journal nor removed ones are logged.
func (h *handler) recordsOf(ctx context.Context, changes []events.DynamoDBEventRecord) (records []projection.Record) {
	for _, c := range changes {
		if c.EventName == string(types.OperationTypeRemove) {
			continue // an archive has it
		}
		image := make(map[string]types.AttributeValue)
		for name, value := range c.Change.NewImage {
			if kind := value.DataType(); kind == events.DataTypeString {
				image[name] = &types.AttributeValueMemberS{Value: value.String()}
			} else if kind == events.DataTypeBinary {
				image[name] = &types.AttributeValueMemberB{Value: value.Binary()}
			}
		}
		record, _, err := h.stream.Record(image)
		if err != nil || c.EventName != string(types.OperationTypeInsert) {
			h.log.WarnContext(ctx, "skipped a change of the journal table that is no new entry", "sequence_number", c.Change.SequenceNumber, "event", c.EventName, "error", err)
			continue
		}
		records = append(records, record)
	}
	return records
}

// tend compares the rows with the journal if they never were, or if changes are lost, and settles.
func (h *handler) tend(ctx context.Context, lost bool) error {
	if err := h.begin(ctx, h.rows); err != nil { // another environment may have compared them
		return err
	}
	deadline, _ := ctx.Deadline()
	comparing, stop := context.WithTimeout(ctx, time.Until(deadline)*3/4) // the rest is for what is due
	defer stop()
	err := h.each(func(p *projection.Projector) error {
		if lost {
			if err := p.OweRepair(ctx); err != nil {
				return err
			}
		}
		return p.RepairIfDue(comparing)
	})
	h.tended = time.Time{}
	return errors.Join(err, h.settle(ctx, time.Now()))
}

// settle sends commands that are due, until ctx ends. Every few seconds it also reports, and retries parked aggregates
// in at most half of ctx's time.
func (h *handler) settle(ctx context.Context, newest time.Time) error {
	var failed error
	if now := time.Now(); now.Sub(h.tended) >= tendEvery {
		h.tended = now
		lag := projection.Lag{Behind: max(0, now.Sub(newest)), AtLeast: true} // other shards may be further behind
		_, failed = h.stores[0].SaveReport(ctx, rowstore.Report{Lag: lag, CaughtUp: h.projectors[0].RepairSince().IsZero(), At: now})
		deadline, _ := ctx.Deadline()
		retrying, stop := context.WithTimeout(ctx, time.Until(deadline)/2)
		failed = errors.Join(failed, h.each(func(p *projection.Projector) error { _, err := p.RetryParked(retrying); return err }), h.tell(ctx))
		stop()
	}
	for i, outbox := range h.outboxes {
		sent, err := 1, error(nil)
		for sent > 0 && err == nil {
			sent, err = outbox.SendDue(ctx, h.processes[i].Send)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
