package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/oklog/ulid/v2"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
	"example.com/threads/infrastructure/eventstore/dynamo"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/usecase/chat"
)

// The addresses of the services that devservices has started.
const (
	dynamoDBVar = "TEST_DYNAMODB_ENDPOINT"
	mySQLVar    = "TEST_MYSQL_DSN"
)

// useServices makes the SDK, in this process and in the started programs, use DynamoDB Local.
func useServices() error {
	return errors.Join(os.Setenv("AWS_REGION", "us-east-1"), os.Setenv("AWS_ACCESS_KEY_ID", "local"), os.Setenv("AWS_SECRET_ACCESS_KEY", "local"),
		os.Setenv("AWS_ENDPOINT_URL_DYNAMODB", os.Getenv(dynamoDBVar)), os.Setenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", os.Getenv(dynamoDBVar)))
}

// testTables are the tables of one run.
type testTables struct {
	client            *sdk.Client
	journal, snapshot string
}

// newTables creates tables. DynamoDB Local gets slower with every record of any stream, so measurements of writes use
// tables without streams.
func newTables(ctx context.Context, streamed bool) (*testTables, error) {
	client, err := newSDKClient(ctx)
	if err != nil {
		return nil, err
	}
	name := ulid.Make().String()
	t := &testTables{client, name + "-journal", name + "-snapshot"}
	wanted := dynamodb.Tables(t.journal, t.snapshot)
	for i := range wanted {
		wanted[i].Stream = wanted[i].Stream && streamed
	}
	_, _, err = dynamodb.SetUpTables(ctx, client, wanted)
	return t, err
}

func newSDKClient(ctx context.Context, options ...func(*sdk.Options)) (*sdk.Client, error) {
	config, err := dynamo.Load(ctx)
	if err != nil {
		return nil, err
	}
	return dynamodb.NewClient(config, options...), nil
}

// commandPoster sends commands without HTTP.
type commandPoster struct {
	gateway *dynamodb.Gateway
	service *chat.ThreadCommands
	user    ident.UserID
}

func (t *testTables) newPoster() (*commandPoster, error) {
	quiet := slog.New(slog.DiscardHandler)
	gateway, err := dynamodb.New(t.client, dynamodb.Settings{JournalTable: t.journal, SnapshotTable: t.snapshot, SnapshotKeep: 1})
	if err != nil {
		return nil, err
	}
	service := es.NewService(eventjson.Threads(), gateway, es.Settings{Logger: quiet})
	return &commandPoster{gateway, service, ident.FromULID[ident.UserAccount](ulid.Make())}, nil
}

func (p *commandPoster) end(ctx context.Context) error {
	return p.service.Close(context.WithoutCancel(ctx))
}

// create creates a thread and returns its id.
func (p *commandPoster) create(ctx context.Context) (string, error) {
	id, member := ulid.Make().String(), ident.FromULID[thread.Member](ulid.Make())
	return id, p.handle(ctx, id, true, thread.Create{Executor: p.user, Member: member, Name: writing.RecordedName("busy")})
}

func (p *commandPoster) post(ctx context.Context, id string) error {
	message := ident.FromULID[thread.Message](ulid.Make())
	return p.handle(ctx, id, false, thread.PostMessage{Executor: p.user, Message: message, Text: thread.RecordedText("hello")})
}

func (p *commandPoster) handle(ctx context.Context, id string, begins bool, wanted thread.Command) error {
	_, err := p.service.Handle(ctx, es.Request[thread.Command]{
		Caller: es.Caller{Executor: p.user.String(), Source: "bench"}, ID: id, Begins: begins, Command: wanted, Name: thread.CommandName(wanted),
	})
	return err
}
