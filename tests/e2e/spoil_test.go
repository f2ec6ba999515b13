package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
)

// spoiler changes stored data without the programs, like an operator with the database's shell.
type spoiler interface {
	setHead(t *testing.T, aid string, version int)
	removeHead(t *testing.T, aid string)
	spoilPointer(t *testing.T, aid string)
	spoilSnapshots(t *testing.T, aid string)
	// addEvent writes an event after the last one, and updates the head.
	addEvent(t *testing.T, aid string, seqNr int, payload string)
	setPayload(t *testing.T, aid string, seqNr int, payload string)
}

// variable returns the value of a variable in an environment.
func variable(env []string, name string) string {
	for _, line := range env {
		if value, found := strings.CutPrefix(line, name+"="); found {
			return value
		}
	}
	return ""
}

// spoilerOf returns the spoiler of the event store that an environment names.
func spoilerOf(t *testing.T, env []string) spoiler {
	t.Helper()
	if variable(env, "EVENT_STORE") != "" {
		return sqlSpoiler{variable(env, "EVENT_STORE_URL")}
	}
	return dynamoTables(t, env)
}

func dynamoTables(t *testing.T, env []string) dynamoSpoiler {
	t.Helper()
	return dynamoSpoiler{sdk.NewFromConfig(testenv.DynamoDBConfig(t)), variable(env, "JOURNAL_TABLE"), variable(env, "SNAPSHOT_TABLE")}
}

type sqlSpoiler struct{ url string }

func (s sqlSpoiler) setHead(t *testing.T, aid string, version int) {
	s.run(t, "UPDATE aggregates SET version = ? WHERE aggregate_id = ?", version, aid)
}

func (s sqlSpoiler) removeHead(t *testing.T, aid string) {
	s.run(t, "DELETE FROM aggregates WHERE aggregate_id = ?", aid)
}

func (s sqlSpoiler) spoilPointer(t *testing.T, aid string) {
	s.run(t, "UPDATE aggregates SET snapshot_version = -1 WHERE aggregate_id = ?", aid)
}

func (s sqlSpoiler) spoilSnapshots(t *testing.T, aid string) {
	s.run(t, "UPDATE snapshots SET snapshot = 'broken' WHERE aggregate_id = ? AND version > 1", aid)
}

func (s sqlSpoiler) addEvent(t *testing.T, aid string, seqNr int, payload string) {
	s.setHead(t, aid, seqNr)
	s.run(t, `INSERT INTO events (tenant_code, aggregate_type, aggregate_id, version, event_id, command_id, correlation_id, user_id, event_type, event_content, occurred_at)
		SELECT tenant_code, aggregate_type, aggregate_id, version + 1, ?, NULL, '', user_id, event_type, ?, occurred_at FROM events
		WHERE aggregate_id = ? AND version = ?`, ulid.Make().String(), payload, aid, seqNr-1)
}

func (s sqlSpoiler) setPayload(t *testing.T, aid string, seqNr int, payload string) {
	s.run(t, "UPDATE events SET event_content = ? WHERE aggregate_id = ? AND version = ?", payload, aid, seqNr)
}

// run runs a statement with foreign keys off.
func (s sqlSpoiler) run(t *testing.T, statement string, args ...any) {
	t.Helper()
	url := s.url
	if path, isFile := strings.CutPrefix(url, "sqlite:"); isFile {
		url = "file:" + path + "?_pragma=foreign_keys(0)"
		statement = strings.Replace(statement, "'broken'", "x'00'", 1)
	} else {
		separator := "?"
		if strings.Contains(url, "?") {
			separator = "&"
		}
		url += separator + "foreign_key_checks=0"
	}
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	result, err := db.ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		t.Fatalf("%s: %d rows, %v", statement, rows, err)
	}
}

type dynamoSpoiler struct {
	client            *sdk.Client
	journal, snapshot string
}

func (s dynamoSpoiler) setHead(t *testing.T, aid string, version int) {
	s.set(t, s.snapshot, aid+"-0", "version", &types.AttributeValueMemberN{Value: fmt.Sprint(version)})
}

func (s dynamoSpoiler) removeHead(t *testing.T, aid string) {
	s.remove(t, s.snapshot, s.items(t, s.snapshot, aid+"-0")[0])
}

func (s dynamoSpoiler) spoilPointer(t *testing.T, aid string) {
	s.set(t, s.snapshot, aid+"-0", "snapshot_version", &types.AttributeValueMemberS{Value: "10"})
}

func (s dynamoSpoiler) spoilSnapshots(t *testing.T, aid string) {
	spoilt := 0
	for _, found := range s.items(t, s.snapshot, aid+"-") {
		skey := found["skey"].(*types.AttributeValueMemberS).Value
		if skey != aid+"-0" {
			s.set(t, s.snapshot, skey, "payload", &types.AttributeValueMemberB{Value: []byte("broken")})
			spoilt++
		}
	}
	if spoilt == 0 {
		t.Fatal("there is no snapshot")
	}
}

func (s dynamoSpoiler) addEvent(t *testing.T, aid string, seqNr int, payload string) {
	t.Helper()
	event := maps.Clone(s.items(t, s.journal, fmt.Sprintf("%s-%d", aid, seqNr-1))[0])
	event["skey"] = &types.AttributeValueMemberS{Value: fmt.Sprintf("%s-%d", aid, seqNr)}
	event["seq_nr"] = &types.AttributeValueMemberN{Value: fmt.Sprint(seqNr)}
	event["event_id"] = &types.AttributeValueMemberS{Value: ulid.Make().String()}
	event["payload"] = &types.AttributeValueMemberS{Value: payload}
	s.put(t, s.journal, event)
	s.setHead(t, aid, seqNr)
}

func (s dynamoSpoiler) setPayload(t *testing.T, aid string, seqNr int, payload string) {
	s.set(t, s.journal, fmt.Sprintf("%s-%d", aid, seqNr), "payload", &types.AttributeValueMemberS{Value: payload})
}

func (s dynamoSpoiler) put(t *testing.T, table string, item map[string]types.AttributeValue) {
	t.Helper()
	if _, err := s.client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(table), Item: item}); err != nil {
		t.Fatal(err)
	}
}

func (s dynamoSpoiler) remove(t *testing.T, table string, item map[string]types.AttributeValue) {
	t.Helper()
	if _, err := s.client.DeleteItem(t.Context(), &sdk.DeleteItemInput{TableName: aws.String(table), Key: keyOf(item)}); err != nil {
		t.Fatal(err)
	}
}

// items returns the items whose skey has the prefix.
func (s dynamoSpoiler) items(t *testing.T, table, prefix string) []map[string]types.AttributeValue {
	t.Helper()
	output, err := s.client.Scan(t.Context(), &sdk.ScanInput{
		TableName: aws.String(table), FilterExpression: aws.String("begins_with(skey, :prefix)"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: map[string]types.AttributeValue{":prefix": &types.AttributeValueMemberS{Value: prefix}},
	})
	if err != nil || len(output.Items) == 0 {
		t.Fatalf("items %s...: %v", prefix, err)
	}
	return output.Items
}

func (s dynamoSpoiler) set(t *testing.T, table, skey, attribute string, value types.AttributeValue) {
	t.Helper()
	_, err := s.client.UpdateItem(t.Context(), &sdk.UpdateItemInput{
		TableName: aws.String(table), Key: keyOf(s.items(t, table, skey)[0]), UpdateExpression: aws.String("SET #attribute = :value"),
		ExpressionAttributeNames:  map[string]string{"#attribute": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":value": value},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func keyOf(found map[string]types.AttributeValue) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pkey": found["pkey"], "skey": found["skey"]}
}
