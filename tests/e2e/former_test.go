package e2e

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/domain/ident"
	"example.com/threads/tests/testenv"
)

// The first document's event and state, byte for byte, with its ids as UUIDs.
const (
	formerEvent = `{"type":"Created","id":"01H42KBHCW1BZG504J4ZXKA2F2","aggregate_id":{"value":"01890535-c59c-72d5-08a8-dcea316374c8"},"seq_nr":1,"name":"test","members":{"members_ids_by_user_account_id":{"01H42KBHCWBDTZYQ7P78T8BTWX":"01H42KBHCWA8NE32M49YH544H1"},"members":{"01H42KBHCWA8NE32M49YH544H1":{"id":"01H42KBHCWA8NE32M49YH544H1","user_account_id":{"value":"01890535-c59c-5b75-ff5c-f63a3485eb9d"},"role":"Admin"}}},"occurred_at":"2023-06-29T03:32:37.404481Z"}`
	formerState = `{"id":{"value":"0189053a-d0b4-8f9b-4fb6-db91f72ccf16"},"name":"test","members":{"members_ids_by_user_account_id":{"01H42KNM5MBVRBZTADAZ9ETSPZ":"01H42KNM5M2QEW700VCW4J2KYE"},"members":{"01H42KNM5M2QEW700VCW4J2KYE":{"id":"01H42KNM5M2QEW700VCW4J2KYE","user_account_id":{"value":"0189053a-d0b4-5ef0-bfe9-4d57d2ed66df"},"role":"Admin"}}},"messages":[],"seq_nr_counter":1,"version":1}`
)

const (
	eventThread, eventUser = "01890535-c59c-72d5-08a8-dcea316374c8", "01890535-c59c-5b75-ff5c-f63a3485eb9d"
	stateThread, stateUser = "0189053a-d0b4-8f9b-4fb6-db91f72ccf16", "0189053a-d0b4-5ef0-bfe9-4d57d2ed66df"
)

// The document's two samples belong to different threads. Each thread here has its sample, and another item like the
// other sample. The number in the items may be a text.
func TestItemsOfTheFirstDocument(t *testing.T) {
	startsPrograms(t)
	s := threePrograms(t, dynamoDB(t))
	toEvent := strings.NewReplacer(stateThread, eventThread, stateUser, eventUser)
	toState := strings.NewReplacer(eventThread, stateThread, eventUser, stateUser)
	for about, c := range map[string]struct {
		thread, admin, event, state string
		number                      types.AttributeValue
	}{
		"the event": {eventThread, eventUser, formerEvent, toEvent.Replace(formerState), &types.AttributeValueMemberN{Value: "1"}},
		"the state": {stateThread, stateUser, toState.Replace(formerEvent), formerState, &types.AttributeValueMemberS{Value: "1"}},
	} {
		t.Run(about, func(t *testing.T) {
			ada := s.person("")
			ada.id = idOf(t, c.admin)
			thread := idOf(t, c.thread)
			putFormer(t, s.store, thread, c.event, c.state, c.number)

			posted := ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "hello"})
			if posted.version() != 2 {
				t.Errorf("version %d after the first command, want 2", posted.version())
			}
			if view := ada.view(t, thread, token(posted)); view.Name != "test" || view.Version != 2 || len(view.Messages) != 1 {
				t.Errorf("the projection shows %+v", view)
			}
			var was threadAt
			ada.ask(t, &was, atQuery, fields{"t": thread, "u": ada.id, "v": 1})
			if at := was.ThreadAt; at.Name != "test" || len(at.Members) != 1 || at.Members[0].CreatedAt != "2023-06-29T03:32:37.404481Z" {
				t.Errorf("version 1: %+v", at)
			}
			runOnce(t, "threadctl", s.store, "journal", "check", "thread-"+thread)
		})
	}
}

func idOf(t *testing.T, uuid string) string {
	t.Helper()
	id, err := ident.Parse[any](uuid)
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

// putFormer puts the items into the tables that an environment names: the head first, as in one transaction.
func putFormer(t *testing.T, env []string, thread, event, state string, number types.AttributeValue) {
	t.Helper()
	text := func(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(thread))
	client := sdk.NewFromConfig(testenv.DynamoDBConfig(t))
	for _, put := range []struct {
		table string
		skey  string
		more  map[string]types.AttributeValue
	}{
		{"SNAPSHOT_TABLE", "-0", map[string]types.AttributeValue{"payload": text(state), "version": &types.AttributeValueMemberN{Value: "1"}}},
		{"JOURNAL_TABLE", "-1", map[string]types.AttributeValue{"payload": text(event), "occurred_at": text("2023-06-29T03:32:37.404481Z")}},
	} {
		put.more["pkey"] = text(fmt.Sprintf("thread-%d", hash.Sum64()%64))
		put.more["skey"], put.more["aid"], put.more["ser_nr"] = text("thread-"+thread+put.skey), text("thread-"+thread), number
		if _, err := client.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String(variable(env, put.table)), Item: put.more}); err != nil {
			t.Fatal(err)
		}
	}
}
