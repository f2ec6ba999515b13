package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
)

// delivery projects what Lambda delivers. It has no turn and no checkpoints: any number of them may work at the same
// time, also beside a read-model-updater, and the positions of the aggregates keep the rows right. The invocations of
// an environment follow each other.
type delivery struct {
	model     run.ReadModel
	processes []run.Process
	journal   es.Journal
	stream    dynamodbstreams.Ports // with a Place, for its records
	rows      *sqlx.DB
	ignore    []string // aggregate types
	piece     int      // how many changes are projected at once
	log       *slog.Logger

	projectors []*projection.Projector // the read model's, and those of the processes
	outboxes   []*process.Outbox       // of the processes
	reports    *rowstore.Store
	tended     time.Time
}

// begin must be called before the first invocation. It may be called again.
func (d *delivery) begin(ctx context.Context) error {
	rebuild, err := d.model.Rebuild(d.rows, d.journal, 0, d.log)
	if err != nil {
		return err
	}
	outdated, err := rebuild.Outdated(ctx) // it stores the versions before there are rows
	if err != nil {
		return err
	}
	if len(outdated) > 0 {
		d.log.ErrorContext(ctx, "the rows were made by another version of this program: rebuild them", "aggregate_types", outdated)
	}
	d.projectors, d.outboxes, d.reports = nil, nil, rebuild.Store
	follow := func(store *rowstore.Store, ignore []string, handlers []projection.Handler) {
		options := projection.Options{Ignore: slices.Concat(ignore, d.ignore), Logger: d.log}
		d.projectors = append(d.projectors, projection.New(store, d.journal, options, handlers...))
	}
	follow(rebuild.Store, nil, d.model.Handlers)
	for _, p := range d.processes {
		store, err := rowstore.New(d.rows, p.Name)
		if err != nil {
			return err
		}
		outbox := process.New(d.rows, store, p.Name, d.log)
		d.outboxes = append(d.outboxes, outbox)
		follow(store, p.Ignore, p.Handlers(outbox))
	}
	return d.each(func(p *projection.Projector) error { return p.Begin(ctx, false) })
}

// each works with all projectors at the same time.
func (d *delivery) each(work func(*projection.Projector) error) error {
	var all errgroup.Group
	for _, projector := range d.projectors {
		all.Go(func() error { return work(projector) })
	}
	return all.Wait()
}

const tendEvery = 5 * time.Second // in a busy environment

// handle projects changes of the journal table. If some are done, the answer names the first of the others. If none is,
// it fails, so that it counts as an error of the function.
func (d *delivery) handle(ctx context.Context, changes []events.DynamoDBEventRecord) (answer events.DynamoDBEventResponse, err error) {
	slices.SortStableFunc(changes, bySequence)
	for from := 0; from < len(changes); from += d.piece {
		batch := projection.Batch{Records: d.recordsOf(ctx, changes[from:min(from+d.piece, len(changes))])}
		err := d.each(func(p *projection.Projector) error { _, err := p.Project(ctx, batch); return err })
		if err != nil {
			d.log.WarnContext(ctx, "a batch is to be delivered again", "changes", len(changes), "done", from, "error", err)
			if from == 0 {
				return answer, err
			}
			answer.BatchItemFailures = []events.DynamoDBBatchItemFailure{{ItemIdentifier: changes[from].Change.SequenceNumber}}
			return answer, nil
		}
	}
	if err := d.settle(ctx, changes[len(changes)-1].Change.ApproximateCreationDateTime.Time); err != nil {
		d.log.WarnContext(ctx, "retrying parked aggregates or sending commands failed; both are due again in the next invocation", "error", err)
	}
	return answer, nil
}

// bySequence compares sequence numbers: decimal ones of any length.
func bySequence(a, b events.DynamoDBEventRecord) int {
	x, y := strings.TrimLeft(a.Change.SequenceNumber, "0"), strings.TrimLeft(b.Change.SequenceNumber, "0")
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
}

// recordsOf converts changes. Those that are no new entries of the journal are logged, and left out.
func (d *delivery) recordsOf(ctx context.Context, changes []events.DynamoDBEventRecord) (records []projection.Record) {
	for _, c := range changes {
		image := make(map[string]types.AttributeValue)
		for name, value := range c.Change.NewImage {
			if kind := value.DataType(); kind == events.DataTypeString {
				image[name] = &types.AttributeValueMemberS{Value: value.String()}
			} else if kind == events.DataTypeBinary {
				image[name] = &types.AttributeValueMemberB{Value: value.Binary()}
			}
		}
		record, _, err := d.stream.Record(image)
		if err != nil || c.EventName != string(types.OperationTypeInsert) {
			d.log.WarnContext(ctx, "skipped a change of the journal table that is no new entry", "sequence_number", c.Change.SequenceNumber, "event", c.EventName, "error", err)
			continue
		}
		records = append(records, record)
	}
	return records
}

// tend compares the rows with the journal if they never were, or if changes are lost, and settles.
func (d *delivery) tend(ctx context.Context, lost bool) error {
	if err := d.begin(ctx); err != nil { // another environment may have compared them
		return err
	}
	err := d.each(func(p *projection.Projector) error {
		if lost {
			if err := p.OweRepair(ctx); err != nil {
				return err
			}
		}
		return p.RepairDue(ctx)
	})
	d.tended = time.Time{}
	return errors.Join(err, d.settle(ctx, time.Now()))
}

// settle sends the commands of process managers that are due, until ctx ends. Every few seconds it also retries parked
// aggregates, and reports how old the newest change is. What it leaves is stored, and due the next time.
func (d *delivery) settle(ctx context.Context, newest time.Time) (err error) {
	if now := time.Now(); now.Sub(d.tended) >= tendEvery {
		d.tended = now
		lag := projection.Lag{Behind: max(0, now.Sub(newest)), AtLeast: true} // other shards may be further behind
		_, failed := d.reports.SaveReport(ctx, rowstore.Report{Lag: lag, CaughtUp: d.projectors[0].RepairSince().IsZero(), At: now})
		err = errors.Join(failed, d.each(func(p *projection.Projector) error { _, err := p.RetryParked(ctx); return err }))
	}
	for i, outbox := range d.outboxes {
		for sent := 1; sent > 0 && err == nil; {
			sent, err = outbox.SendDue(ctx, d.processes[i].Send)
		}
	}
	return err
}
