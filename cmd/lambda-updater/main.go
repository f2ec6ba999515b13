// Command lambda-updater is the read-model-updater as a function that AWS Lambda calls with batches of changes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/es/database"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/migration"
	"example.com/threads/extras/archive"            // extra:archive
	"example.com/threads/extras/erasure"            // extra:erasure,publishing
	"example.com/threads/extras/erasure/awskeys"    // extra:erasure,publishing
	"example.com/threads/extras/publishing"         // extra:publishing
	"example.com/threads/extras/publishing/kafka"   // extra:publishing
	"example.com/threads/extras/publishing/nats"    // extra:publishing
	"example.com/threads/extras/publishing/webhook" // extra:publishing
	"example.com/threads/extras/tenants"            // extra:tenants
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/infrastructure/eventstore/dynamo"
	"example.com/threads/infrastructure/logging"
	"example.com/threads/infrastructure/program"
)

const about = `
Projects the events that AWS Lambda delivers from the stream of the journal table into the read model, and runs the
process managers; see cmd/lambda-updater/README.md. It works on AWS Lambda and with EVENT_STORE=dynamodb only.
`

var start = program.With("lambda-updater", about, readSettings, work)

func main() { program.Main("lambda-updater", start) }

type settings struct {
	databaseURL string
	store       eventstore.Settings
	archive     archive.Folder      // extra:archive
	publishing  publishing.Settings // extra:publishing
	erasure     erasure.Settings    // extra:erasure,publishing
	ignore      []string            // aggregate types
	logging     logging.Settings
}

func readSettings(r *config.Reader) (s settings) {
	s.databaseURL = eventstore.ReadDatabaseURL(r)
	s.store = eventstore.ReadSettings(r)
	s.store.ReadSnapshots(r)
	s.store.ReadClock(r)
	if s.store.Kind != eventstore.DynamoDB {
		r.Wrong(fmt.Sprintf("EVENT_STORE is %q, but Lambda delivers the events of %s only", s.store.Kind, eventstore.DynamoDB))
	}
	s.archive = archive.ReadFolder(r)                                              // extra:archive
	s.publishing = publishing.ReadSettings(r, nats.Kind, kafka.Kind, webhook.Kind) // extra:publishing
	s.erasure = erasure.ReadSettings(r, "")                                        // extra:erasure,publishing
	tenants.RefuseDatabases(r)                                                     // extra:tenants
	s.ignore = system.ReadIgnored(r)                                               // extra:operate
	s.logging = logging.ReadSettings(r, "info", "json")
	return s
}

// work answers invocations until ctx ends. An invocation that is interrupted is delivered again.
func work(ctx context.Context, s settings, stdout io.Writer) error {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" { // where package lambda reads it, too
		return errors.New("AWS_LAMBDA_RUNTIME_API is not set: this program works on AWS Lambda only; see lambda-updater --help")
	}
	h := &handler{settings: s, log: s.logging.Logger(stdout), figuresTo: stdout, piece: pieceSize}
	_ = h.connect(ctx) // if it fails, the first invocation tries again and says why
	go lambda.StartWithOptions(h.handle, lambda.WithContext(context.WithoutCancel(ctx)))
	<-ctx.Done()
	return nil
}

// handle projects changes. Without any, as from a schedule, it looks after everything else. Records of another source,
// such as the mapping's destination on failure, say that changes were discarded. The answer has an empty state, without
// which Lambda takes it for a failure where the mapping has tumbling windows.
func (h *handler) handle(ctx context.Context, event events.DynamoDBEvent) (answer events.DynamoDBTimeWindowEventResponse, err error) {
	answer.State = map[string]string{}
	deadline, _ := ctx.Deadline() // there always is one
	needed := ending
	if h.publishing.On() { // extra:publishing {
		needed += publishing.EndsWithin
	} // extra:publishing }
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(-min(needed, time.Until(deadline)/3)))
	defer cancel()
	if err := h.connect(ctx); err != nil {
		return answer, err
	}
	lost := slices.ContainsFunc(event.Records, func(c events.DynamoDBEventRecord) bool { return c.EventSource != "aws:dynamodb" })
	if lost || len(event.Records) == 0 {
		return answer, h.tend(ctx, lost)
	}
	answer.BatchItemFailures, err = h.deliver(ctx, event.Records)
	return answer, err
}

const (
	silence    = 3 * time.Second // after it, a database frees the locks of an environment that is frozen or dead
	conns      = 4               // to the read model, of each environment
	openWithin = 5 * time.Second // Lambda gives an environment ten seconds to start
	ending     = time.Second     // what an answer needs of the timeout, or a third of that if it is short
	pieceSize  = 200             // what is done when the time is over is not delivered again
)

// connect opens the databases, unless they are open.
func (h *handler) connect(ctx context.Context) error {
	if h.rows != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	store, err := dynamo.OpenAny(ctx, h.store, h.log, nil)
	if err != nil {
		return err
	}
	if h.publishing.On() && h.publish == nil { // extra:publishing {
		keys, err := awskeys.Open(ctx, h.erasure, store) // extra:erasure {
		if err != nil {
			return err
		}
		h.publishing.Around = keys.Broker // extra:erasure }
		if h.publish, _, err = h.publishing.Open(); err != nil {
			return err
		}
	} // extra:publishing }
	rows, err := database.Open(ctx, h.databaseURL, database.Settings{MaxConns: conns, Rebuildable: true, Silence: silence, Logger: h.log})
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	h.stream.Place = store.Gateway.(*dynamodb.Gateway).Place
	h.archive.Behind(store) // extra:archive
	h.journal, h.processes = store.Gateway, nil
	for _, manager := range system.Processes() {
		h.processes = append(h.processes, manager(store, h.log))
	}
	if err = migration.Check(ctx, rows, system.Schemas()...); err == nil {
		err = h.begin(ctx, rows)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("DATABASE_URL: %w", err), rows.Close())
	}
	return nil
}
