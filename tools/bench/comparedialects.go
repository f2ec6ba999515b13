package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"
)

// ours is this project as three programs on DynamoDB and MySQL or MariaDB, with its defaults, but without limits on the
// rate of requests.
type ours struct{}

func newOurs(ctx context.Context, l *lab) (*contender, error) {
	tables, config, env, err := newStores(ctx, l)
	if err != nil {
		return nil, err
	}
	c, err := newContender(ctx, l, ours{}, ulid.Make().String(), tables.journal, config)
	if err != nil {
		return nil, err
	}
	c.env = append(env, "LOG_LEVEL=info")
	return c, nil
}

func (ours) program(role int, address string) (name string, args, env []string) {
	switch role {
	case roleUpdater:
		return "read-model-updater", nil, []string{"UPDATER_ADDR=" + address}
	case roleReader:
		return "read-api", nil, []string{"READ_API_ADDR=" + address}
	}
	return "write-api", nil, []string{"WRITE_API_ADDR=" + address}
}

func (ours) ready(int) string { return "/health/ready" }

func (ours) create(ctx context.Context, c *contender) (string, error) {
	var created answer
	err := c.send(ctx, roleWriter, "/threads/create", "", map[string]string{"executor_id": c.user, "name": "compared"}, &created)
	return created.Thread, err
}

func (ours) post(ctx context.Context, c *contender, role int, thread, text, key string) (string, error) {
	var posted answer
	body := map[string]string{"executor_id": c.user, "thread_id": thread, "text": text}
	err := c.send(ctx, role, "/threads/post_message", key, body, &posted)
	if err == nil && (posted.Thread != thread || posted.Message == "") {
		err = fmt.Errorf("an answer to a post to %s is %+v", thread, posted)
	}
	return posted.Message, err
}

func (ours) messages(thread, user, after string) string {
	position := ""
	if after != "" {
		position = fmt.Sprintf(", after: %q", after)
	}
	return fmt.Sprintf(`{ getMessages(threadId: %q, userAccountId: %q, first: %d%s) { id threadId userAccountId text createdAt updatedAt } }`,
		thread, user, pageSize, position)
}

func (ours) readPath() string { return "/graphql" }

// theirs is j5ik2o/cqrs-es-example-go with its defaults: one program with three commands.
type theirs struct{}

// peerProgram is the name that go build gives the peer's program.
const peerProgram = "cqrs-es-example-go"

// newTheirs expects the peer's program and migrations in l.binaries.
func newTheirs(ctx context.Context, l *lab) (*contender, error) {
	config, err := newDatabase(ctx)
	if err != nil {
		return nil, err
	}
	name := ulid.Make().String()
	c, err := newContender(ctx, l, theirs{}, "UserAccount-"+ulid.Make().String(), name+"-journal", config)
	if err != nil {
		return nil, err
	}
	migrations, err := filepath.Glob(filepath.Join(l.binaries, "tools", "migrate", "migrations", "*.up.sql"))
	if err != nil || len(migrations) == 0 {
		return nil, fmt.Errorf("no migrations of the peer in %s: %w", l.binaries, err)
	}
	slices.Sort(migrations)
	for _, file := range migrations {
		statement, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if _, err := c.database.ExecContext(ctx, string(statement)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	c.env = []string{
		"API_HOST=127.0.0.1", "AWS_DYNAMODB_ENDPOINT_URL=" + os.Getenv(dynamoDBVar), "AWS_DYNAMODB_ACCESS_KEY_ID=local", "AWS_DYNAMODB_SECRET_ACCESS_KEY=local",
		"PERSISTENCE_JOURNAL_TABLE_NAME=" + c.journal, "PERSISTENCE_SNAPSHOT_TABLE_NAME=" + name + "-snapshot", "STREAM_JOURNAL_TABLE_NAME=" + c.journal,
		"PERSISTENCE_JOURNAL_AID_INDEX_NAME=aid-index", "PERSISTENCE_SNAPSHOT_AID_INDEX_NAME=aid-index",
		fmt.Sprintf("DATABASE_URL=%s:%s@tcp(%s)/%s", config.User, config.Passwd, config.Addr, config.DBName),
	}
	return c, errors.Join(makePeerTable(ctx, c.client, c.journal, true), makePeerTable(ctx, c.client, name+"-snapshot", false))
}

// makePeerTable creates a table with the keys and the index that the peer's programs use.
func makePeerTable(ctx context.Context, client *sdk.Client, name string, streamed bool) error {
	attributes := []types.AttributeDefinition{}
	for attribute, kind := range map[string]types.ScalarAttributeType{"pkey": "S", "skey": "S", "aid": "S", "seq_nr": "N"} {
		attributes = append(attributes, types.AttributeDefinition{AttributeName: aws.String(attribute), AttributeType: kind})
	}
	keys := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange}}
	}
	input := &sdk.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest, AttributeDefinitions: attributes, KeySchema: keys("pkey", "skey"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("aid-index"), KeySchema: keys("aid", "seq_nr"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}
	if streamed {
		input.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage}
	}
	_, err := client.CreateTable(ctx, input)
	return err
}

func (theirs) program(role int, address string) (name string, args, env []string) {
	command := "writeApi"
	switch role {
	case roleUpdater:
		command = "localRmu"
	case roleReader:
		command = "readApi"
	}
	_, port, _ := net.SplitHostPort(address)
	return peerProgram, []string{command}, []string{"API_PORT=" + port}
}

// ready is the playground, because the peer has no path for it; its updater does not listen.
func (theirs) ready(role int) string {
	if role == roleUpdater {
		return ""
	}
	return "/"
}

func (theirs) create(ctx context.Context, c *contender) (string, error) {
	var created struct {
		Data struct{ CreateGroupChat struct{ GroupChatID string } }
	}
	body := mutation(`mutation($input: CreateGroupChatInput!) { createGroupChat(input: $input) { groupChatId } }`, map[string]string{"name": "compared", "executorId": c.user})
	err := c.send(ctx, roleWriter, "/query", "", body, &created)
	return created.Data.CreateGroupChat.GroupChatID, err
}

func (theirs) post(ctx context.Context, c *contender, role int, thread, text, _ string) (string, error) {
	var answered struct {
		Data struct {
			PostMessage struct{ GroupChatID, MessageID string }
		}
	}
	body := mutation(`mutation($input: PostMessageInput!) { postMessage(input: $input) { groupChatId messageId } }`,
		map[string]string{"groupChatId": thread, "content": text, "executorId": c.user})
	err := c.send(ctx, role, "/query", "", body, &answered)
	posted := answered.Data.PostMessage
	if err == nil && (posted.GroupChatID != thread || posted.MessageID == "") {
		err = fmt.Errorf("an answer to a post to %s is %+v", thread, posted)
	}
	return posted.MessageID, err
}

func mutation(query string, input map[string]string) map[string]any {
	return map[string]any{"query": query, "variables": map[string]any{"input": input}}
}

// messages has one page: the peer answers with all messages at once.
func (theirs) messages(thread, user, after string) string {
	if after != "" {
		return ""
	}
	return fmt.Sprintf(`{ getMessages(groupChatId: %q, userAccountId: %q) { id groupChatId userAccountId text createdAt updatedAt } }`, thread, user)
}

func (theirs) readPath() string { return "/query" }
