package dynamodb_test

import (
	"context"
	"maps"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/archive/archivetest"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/estest"
	"example.com/threads/es/estest/testenv"
)

// store is DynamoDB Local with tables of its own, a client whose network can fail, and one whose network works.
type store struct {
	journal, snapshot string
	client            *sdk.Client
	faulty            *sdk.Client
	transport         *Transport
}

func newStore(t *testing.T) *store {
	t.Helper()
	cfg := testenv.DynamoDBConfig(t)
	s := &store{journal: testenv.UniqueName(t), snapshot: testenv.UniqueName(t), client: sdk.NewFromConfig(cfg)}
	s.transport = newTransport(cfg.HTTPClient)
	cfg.HTTPClient = s.transport
	cfg.Retryer = func() aws.Retryer { // the usual number of attempts, but with shorter pauses
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 4
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 5 * time.Millisecond, nil })
		})
	}
	s.faulty = sdk.NewFromConfig(cfg)
	tables := dynamodb.Tables(s.journal, s.snapshot)
	// no streams: DynamoDB Local gets slower with each stream record of any table
	for i := range tables {
		tables[i].Stream = false
	}
	_, differences, err := dynamodb.SetUpTables(t.Context(), s.client, tables)
	if err != nil || len(differences) > 0 {
		t.Fatalf("set up the tables: %v, %v", differences, err)
	}
	t.Cleanup(func() { s.drop(t) })
	return s
}

func (s *store) drop(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute) // the test's own has ended
	defer cancel()
	for _, table := range []string{s.journal, s.snapshot} {
		if _, err := s.client.DeleteTable(ctx, &sdk.DeleteTableInput{TableName: aws.String(table)}); err != nil {
			t.Errorf("delete table %s: %v", table, err)
		}
	}
}

func (s *store) settings() dynamodb.Settings {
	return dynamodb.Settings{JournalTable: s.journal, SnapshotTable: s.snapshot}
}

func (s *store) open(t *testing.T, settings dynamodb.Settings) *dynamodb.Gateway {
	t.Helper()
	gateway, err := dynamodb.New(s.faulty, settings)
	if err != nil {
		t.Fatal(err)
	}
	return gateway
}

// With a number of shards that was raised. Other tests have one number.
func TestContract(t *testing.T) {
	s := newStore(t)
	open := s.harness(func(own dynamodb.Settings) es.Store {
		own.Shards = []int{256, 64}
		return s.open(t, own)
	})
	estest.Run(t, open)
	estest.RunJournal(t, open)
	estest.RunSequences(t, open)
	estest.RunSpool(t, open)
}

// What was moved to an archive reads as before.
func TestContractOfAnArchive(t *testing.T) {
	var moved atomic.Int64
	s := newStore(t)
	estest.Run(t, s.harness(func(own dynamodb.Settings) es.Store { return archivetest.Eager(t, s.open(t, own), &moved) }))
	if moved.Load() < 100 {
		t.Errorf("%d events were moved", moved.Load())
	}
}

func (s *store) harness(openWith func(dynamodb.Settings) es.Store) estest.Open {
	return func(t *testing.T, settings estest.Settings) estest.Harness {
		s.transport.Clear()
		own := s.settings()
		own.SnapshotKeep, own.OwnerBytes, own.TenantBytes = settings.KeepSnapshots, settings.OwnerBytes, settings.TenantBytes
		return estest.Harness{
			Gateway:        openWith(own),
			LoseNextAnswer: func(meanwhile func()) { s.transport.On("TransactWriteItems", 1, LoseAnswer(meanwhile)) },
			HideEntries:    s.hideEntries,
			SetHead:        s.setHead,
			DamageSnapshot: s.damageSnapshot,
			RemoveSnapshot: s.removeSnapshot,
		}
	}
}

// hideEntries makes the journal's index omit entries.
func (s *store) hideEntries(hidden func(seqNr uint64) bool) {
	s.transport.Clear()
	s.transport.On("Query", Forever, Edit(func(_ Call, answer map[string]any) {
		shown := []any{}
		for _, found := range answer["Items"].([]any) {
			seqNr, err := strconv.ParseUint(found.(map[string]any)["seq_nr"].(map[string]any)["N"].(string), 10, 64)
			if err == nil && !hidden(seqNr) {
				shown = append(shown, found)
			}
		}
		answer["Items"], answer["Count"] = shown, len(shown)
	}))
}

// items reads all items of an aggregate in a table as they are stored.
func (s *store) items(t *testing.T, table string, id es.AggregateID) []map[string]types.AttributeValue {
	t.Helper()
	var found []map[string]types.AttributeValue
	pages := sdk.NewScanPaginator(s.client, &sdk.ScanInput{
		TableName:                 aws.String(table),
		FilterExpression:          aws.String("begins_with(skey, :skey)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":skey": &types.AttributeValueMemberS{Value: id.String() + "-"}},
		ConsistentRead:            aws.Bool(true),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, page.Items...)
	}
	return found
}

func (s *store) setHead(t *testing.T, id es.AggregateID, head es.Head) {
	t.Helper()
	if head == (es.Head{}) {
		found := s.head(t, id)
		key := map[string]types.AttributeValue{"pkey": found["pkey"], "skey": found["skey"]}
		if _, err := s.client.DeleteItem(t.Context(), &sdk.DeleteItemInput{TableName: aws.String(s.snapshot), Key: key}); err != nil {
			t.Fatal(err)
		}
		return
	}
	number := func(n uint64) types.AttributeValue {
		return &types.AttributeValueMemberN{Value: strconv.FormatUint(n, 10)}
	}
	s.change(t, s.head(t, id), map[string]types.AttributeValue{"version": number(head.Version), "snapshot_version": number(head.SnapshotVersion)})
}

func (s *store) head(t *testing.T, id es.AggregateID) map[string]types.AttributeValue {
	t.Helper()
	for _, found := range s.items(t, s.snapshot, id) {
		if str(found, "skey") == id.String()+"-0" {
			return found
		}
	}
	t.Fatalf("%s has no head", id)
	return nil
}

// change stores an item with other attributes.
func (s *store) change(t *testing.T, item, attributes map[string]types.AttributeValue) {
	t.Helper()
	maps.Copy(item, attributes)
	if _, err := s.client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(s.snapshot), Item: item}); err != nil {
		t.Fatal(err)
	}
}

// A pointer that is not a number must be ignored like any wrong pointer, and corrected.
func TestAPointerThatIsNoNumber(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 5)
	s.change(t, s.head(t, id), map[string]types.AttributeValue{"snapshot_version": &types.AttributeValueMemberS{Value: "4"}})
	for range 3 {
		wantVersion(t, gateway, id, 5)
	}
	if found, err := gateway.StoredHead(t.Context(), id); err != nil || len(found.Faults) != 1 || found.Faults[0].Field != "snapshot_version" {
		t.Errorf("operators are not told: %+v, %v", found, err)
	}
	if err := gateway.SaveSnapshot(t.Context(), id, es.Snapshot{Version: 5, Payload: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if head, err := gateway.Head(t.Context(), id); err != nil || head.SnapshotVersion != 5 {
		t.Errorf("the pointer was not corrected: %+v, %v", head, err)
	}
}

// Writers with a wrong clock have written events before such writes were refused. They must be readable.
func TestAnEventFromBefore1970IsRead(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 2)
	for _, found := range s.items(t, s.journal, id) {
		found["occurred_at"] = &types.AttributeValueMemberN{Value: "-1000"}
		if _, err := s.client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(s.journal), Item: found}); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := readAll(t, gateway, id, 2); last != 2 || err != nil {
		t.Errorf("read up to %d, %v", last, err)
	}
}

// lastOf returns the last item of a snapshot: its last part, or the main item if it has no parts.
func (s *store) lastOf(t *testing.T, id es.AggregateID, version uint64) map[string]types.AttributeValue {
	t.Helper()
	skey := id.String() + "-" + strconv.FormatUint(version, 10)
	var last map[string]types.AttributeValue
	for _, found := range s.items(t, s.snapshot, id) {
		if name := str(found, "skey"); name >= skey && name < skey+"." && (last == nil || name > str(last, "skey")) {
			last = found
		}
	}
	if last == nil {
		t.Fatalf("there is no snapshot of %s at %d", id, version)
	}
	return last
}

func (s *store) damageSnapshot(t *testing.T, id es.AggregateID, version uint64) {
	t.Helper()
	last := s.lastOf(t, id, version)
	payload := last["payload"].(*types.AttributeValueMemberB)
	payload.Value[len(payload.Value)/2] ^= 1
	if _, err := s.client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(s.snapshot), Item: last}); err != nil {
		t.Fatal(err)
	}
}

func (s *store) removeSnapshot(t *testing.T, id es.AggregateID, version uint64) {
	t.Helper()
	last := s.lastOf(t, id, version)
	key := map[string]types.AttributeValue{"pkey": last["pkey"], "skey": last["skey"]}
	if _, err := s.client.DeleteItem(t.Context(), &sdk.DeleteItemInput{TableName: aws.String(s.snapshot), Key: key}); err != nil {
		t.Fatal(err)
	}
}

func str(found map[string]types.AttributeValue, attribute string) string {
	value, _ := found[attribute].(*types.AttributeValueMemberS)
	if value == nil {
		return ""
	}
	return value.Value
}

func num(found map[string]types.AttributeValue, attribute string) string {
	value, _ := found[attribute].(*types.AttributeValueMemberN)
	if value == nil {
		return ""
	}
	return value.Value
}

func newID() es.AggregateID {
	return es.AggregateID{Type: "notebook", ID: ulid.Make().String()}
}
