package dynamodb_test

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
)

func shardOf(name string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name))
	return strconv.FormatUint(hash.Sum64()%64, 10)
}

func TestItemsAreAsDocumented(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	for tenant, prefix := range map[es.Tenant]string{"": "", "acme-1": "acme-1#"} {
		id, kept := newID(), receipt()
		id.Tenant = tenant
		made := entries(0, 2)
		made[1].CommandID = kept.CommandID
		first := []byte(`{"state":1}`)
		err := gateway.Append(t.Context(), es.Append{
			ID: id, Entries: made, FirstSnapshot: first, Receipts: []es.Receipt{kept},
		})
		if err != nil {
			t.Fatal(err)
		}

		pkey := prefix + "notebook-" + shardOf(id.ID)
		event := s.get(t, s.journal, pkey, "notebook-"+id.ID+"-2")
		if str(event, "aid") != "notebook-"+id.ID || num(event, "seq_nr") != "2" || num(event, "occurred_at") != "1700000000123" ||
			str(event, "payload") != string(made[1].Payload) || str(event, "event_id") != made[1].EventID || len(event) != 7 {
			t.Errorf("the event is %v", event)
		}
		head := s.get(t, s.snapshot, pkey, "notebook-"+id.ID+"-0")
		if str(head, "aid") != "notebook-"+id.ID || num(head, "seq_nr") != "0" || num(head, "version") != "2" ||
			str(head, "payload") != string(first) || len(head) != 6 {
			t.Errorf("the head is %v", head)
		}
		ttl := strconv.FormatInt(kept.ExpiresAt.Add(time.Second-time.Nanosecond).Unix(), 10)
		answer := s.get(t, s.snapshot, prefix+"command-"+shardOf(kept.CommandID), "command-"+kept.CommandID)
		if str(answer, "fingerprint") != "f" || num(answer, "ttl") != ttl || answer["aid"] != nil || answer["seq_nr"] != nil {
			t.Errorf("the receipt is %v", answer)
		}
		s.filesAreAsDocumented(t, gateway, tenant, prefix)
	}
}

func (s *store) filesAreAsDocumented(t *testing.T, gateway *dynamodb.Gateway, tenant es.Tenant, prefix string) {
	t.Helper()
	expires := time.Now().Add(time.Hour).Truncate(time.Second)
	file := es.File{Tenant: tenant, Name: "in-" + newID().ID, Owner: newID().ID, Expires: expires}
	if err := gateway.PutParts(t.Context(), file, 0, []byte("one"), []byte("three")); err != nil {
		t.Fatal(err)
	}
	ttl, name := strconv.FormatInt(expires.Unix(), 10), tenant.String()+"#"+file.Name
	part := s.get(t, s.snapshot, prefix+"file-"+shardOf(file.Name+"-1"), "file-"+file.Name+"-1")
	if num(part, "ttl") != ttl || part["payload"] == nil || part["checksum"] == nil || part["aid"] != nil {
		t.Errorf("the part of a file is %v", part)
	}
	stored := s.get(t, s.snapshot, "files-"+shardOf(name), fmt.Sprintf("files-%012d-%s", expires.Unix(), name))
	if str(stored, "tenant_code") != tenant.String() || str(stored, "file") != file.Name || str(stored, "owner") != file.Owner ||
		num(stored, "expires_at") != ttl || num(stored, "held") != "8" || num(stored, "parts") != "2" || len(stored) != 8 {
		t.Errorf("the file is %v", stored)
	}
	if held := s.get(t, s.snapshot, prefix+"held-"+shardOf(file.Owner), "held-"+file.Owner); num(held, "held") != "8" || len(held) != 3 {
		t.Errorf("what an owner holds is %v", held)
	}
}

func TestTheHeadStaysSmall(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 200)
	large := es.Snapshot{Version: 200, Payload: []byte(strings.Repeat("state ", 200_000))}
	if err := gateway.SaveSnapshot(t.Context(), id, large); err != nil {
		t.Fatal(err)
	}
	size := 0
	head := s.get(t, s.snapshot, "notebook-"+shardOf(id.ID), "notebook-"+id.ID+"-0")
	for name := range head {
		size += len(name) + len(str(head, name)) + len(num(head, name))
	}
	if size > 1000 {
		t.Errorf("the head has about %d bytes: %v", size, head)
	}
}

func TestPayloadsOfEitherTypeAreRead(t *testing.T) {
	s := newStore(t)
	gateway := s.open(t, s.settings())
	id := begin(t, gateway, 1)
	pkey, skey := "notebook-"+shardOf(id.ID), "notebook-"+id.ID
	for table, key := range map[string]string{s.journal: skey + "-1", s.snapshot: skey + "-0"} {
		found := s.get(t, table, pkey, key)
		found["payload"] = &types.AttributeValueMemberB{Value: []byte(str(found, "payload"))}
		if _, err := s.client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(table), Item: found}); err != nil {
			t.Fatal(err)
		}
	}
	for entry, err := range gateway.Entries(t.Context(), id, 0, 1) {
		if err != nil || !strings.HasPrefix(string(entry.Payload), `{"id":`) {
			t.Errorf("the event's payload is %s, %v", entry.Payload, err)
		}
	}
	count := 0
	for snapshot, err := range gateway.Snapshots(t.Context(), id, es.Head{Version: 1}) {
		if count++; err != nil || string(snapshot.Payload) != `{"state":1}` {
			t.Errorf("the first state is %s, %v", snapshot.Payload, err)
		}
	}
	if count != 1 {
		t.Errorf("%d snapshots", count)
	}
}

func (s *store) get(t *testing.T, table, pkey, skey string) map[string]types.AttributeValue {
	t.Helper()
	output, err := s.client.GetItem(t.Context(), &sdk.GetItemInput{TableName: aws.String(table), Key: map[string]types.AttributeValue{
		"pkey": &types.AttributeValueMemberS{Value: pkey}, "skey": &types.AttributeValueMemberS{Value: skey},
	}})
	if err != nil || len(output.Item) == 0 {
		t.Fatalf("no item %s, %s in %s: %v", pkey, skey, table, err)
	}
	return output.Item
}
