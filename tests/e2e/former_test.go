package e2e

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/domain/ident"
	"example.com/threads/es/estest/testenv"
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
		number                      any
	}{
		"the event": {eventThread, eventUser, formerEvent, toEvent.Replace(formerState), 1},
		"the state": {stateThread, stateUser, toState.Replace(formerEvent), formerState, "1"},
	} {
		t.Run(about, func(t *testing.T) {
			ada := s.person("")
			ada.id = idOf(t, c.admin)
			thread := idOf(t, c.thread)
			d, aid := dynamoTables(t, s.store), "thread-"+thread
			d.putState(t, shardOf(thread), aid+"-0", aid, c.state, fields{"ser_nr": c.number, "version": 1})
			d.putEvent(t, shardOf(thread), aid+"-1", aid, c.number, c.event)

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

// A head whose ser_nr is ahead of its version, and kept snapshots, as the documents print them, are read as what they
// are: the larger number counts, and snapshots are intact.
func TestHeadsAndSnapshotsOfTheDocuments(t *testing.T) {
	startsPrograms(t)
	s := threePrograms(t, dynamoDB(t))
	d := dynamoTables(t, s.store)
	ada := s.person("")
	ada.id = idOf(t, stateUser)
	thread := idOf(t, stateThread)
	toState := strings.NewReplacer(eventThread, stateThread, eventUser, stateUser)
	state := strings.NewReplacer(`"seq_nr_counter":1`, `"seq_nr_counter":3`, `"name":"test"`, `"name":"third"`).Replace(formerState)
	pkey, skey, aid := shardOf(thread), "thread-"+thread+"-", "thread-"+thread
	d.putState(t, pkey, skey+"0", aid, state, fields{"ser_nr": 3, "version": 1})
	d.putState(t, pkey, skey+"3", aid, state, fields{"ser_nr": 3, "version": 3, "ttl": time.Now().Add(time.Hour).Unix()})
	d.putEvent(t, pkey, skey+"1", aid, 1, toState.Replace(formerEvent))
	for seqNr, name := range map[int]string{2: "second", 3: "third"} {
		d.putEvent(t, pkey, skey+fmt.Sprint(seqNr), aid, seqNr, fmt.Sprintf(
			`{"type":"ThreadRenamed","id":"01H42KBHCW1BZG504J4ZXKA2F%d","aggregate_id":{"value":%q},"seq_nr":%d,"name":%q,"executor_id":{"value":%q},"occurred_at":"2023-06-29T03:32:37.404481Z"}`,
			seqNr, thread, seqNr, name, ada.id))
	}
	kept := len(d.items(t, d.snapshot, aid))
	runOnce(t, "threadctl", s.store, "journal", "check", aid)
	runOnce(t, "threadctl", s.store, "journal", "repair", aid)
	if now := len(d.items(t, d.snapshot, aid)); now != kept {
		t.Errorf("a repair left %d of %d items in the snapshot table", now, kept)
	}
	posted := ada.attempt(t, "/threads/post_message", fields{"thread_id": thread, "text": "hello"}, nil)
	if posted.status != http.StatusOK || posted.version() != 4 {
		t.Fatalf("the first command: %d %s, want version 4", posted.status, posted.raw)
	}
	if view := ada.view(t, thread, token(posted)); view.Name != "third" || view.Version != 4 || len(view.Messages) != 1 {
		t.Errorf("the projection shows %+v", view)
	}
	ada.command(t, "/threads/snapshot", fields{"thread_id": thread})
	runOnce(t, "threadctl", s.store, "journal", "check", aid)
}

// An item under a key where no program looks for it - the skey of the first document, or another shard - does not exist
// for commands, queries and the projection, and `journal check` names it.
func TestMisplacedItemsOfTheDocuments(t *testing.T) {
	startsPrograms(t)
	s := threePrograms(t, dynamoDB(t))
	d := dynamoTables(t, s.store)
	ada := s.person("")
	ada.id = idOf(t, eventUser)
	thread := idOf(t, eventThread)
	aid := "thread-" + thread
	state := strings.NewReplacer(stateThread, eventThread, stateUser, eventUser).Replace(formerState)
	for _, at := range []struct{ pkey, head, event string }{
		{shardOf(thread), "thread-1", "thread-1"}, // the first document: type and number
		{"thread-64", aid + "-0", aid + "-1"},     // SHARD_COUNT is 64, so no program looks there
	} {
		d.putState(t, at.pkey, at.head, aid, state, fields{"ser_nr": 1, "version": 1})
		d.putEvent(t, at.pkey, at.event, aid, 1, formerEvent)
	}
	marker := s.person("") // whose thread comes after them in the stream
	created := marker.command(t, "/threads/create", fields{"name": "marker"})
	marker.view(t, created.text("thread_id"), token(created))

	if got := ada.attempt(t, "/threads/post_message", fields{"thread_id": thread, "text": "hello"}, nil); got.text("code") != "thread_not_found" {
		t.Errorf("a command: %d %s", got.status, got.raw)
	}
	if code := ada.refused(t, `query($t: ID!, $u: ID!) { getThread(threadId: $t, userAccountId: $u) { id } }`, fields{"t": thread, "u": ada.id}); code != "NOT_FOUND" {
		t.Errorf("a query: %s", code)
	}
	checking := exec.CommandContext(t.Context(), filepath.Join(binaries, "threadctl"), "journal", "check")
	checking.Env = s.store
	output, err := checking.CombinedOutput()
	if err == nil || strings.Count(string(output), "misplaced") != 2 {
		t.Errorf("journal check: %v\n%s", err, output)
	}
	runOnce(t, "threadctl", s.store, "rows", "verify")
	runOnce(t, "threadctl", s.store, "rows", "rebuild")
	if health := get(t, s.updaterURL+"/health/ready"); !strings.Contains(health, `"ready"`) || strings.Contains(health, "ahead of the journal") {
		t.Errorf("health: %s", health)
	}
	if code := ada.refused(t, `query($t: ID!, $u: ID!) { getThread(threadId: $t, userAccountId: $u) { id } }`, fields{"t": thread, "u": ada.id}); code != "NOT_FOUND" {
		t.Errorf("a query after a rebuild: %s", code)
	}
}

// The fourth document's user-account is a type that no program knows: the updater says so, as long as it is there.
func TestTheTypeOfTheFourthDocument(t *testing.T) {
	startsPrograms(t)
	s := threePrograms(t, dynamoDB(t))
	d := dynamoTables(t, s.store)
	const user = "01H42K4ABWQ5V2XQEP3A48VE0Z"
	pkey := strings.Replace(shardOf(user), "thread", "user-account", 1)
	put := d.putEvent(t, pkey, "user-account-"+user+"-12345", "user-account-"+user, 12345, formerEvent)
	testenv.Eventually(t, 20*time.Second, func() error {
		if health := get(t, s.updaterURL+"/health/ready"); !strings.Contains(health, "IGNORE_AGGREGATE_TYPES=user-account") {
			return errors.New(health)
		}
		return nil
	})
	d.remove(t, d.journal, put)
	gone := func() error {
		if health := get(t, s.updaterURL+"/health/ready"); strings.Contains(health, "user-account") || !strings.Contains(health, `"ready"`) {
			return errors.New(health)
		}
		return nil
	}
	testenv.Eventually(t, 40*time.Second, gone)
	s.projector.Kill(t)
	s.projector.Start(t)
	testenv.Eventually(t, 10*time.Second, gone)
}

func shardOf(ulid string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(ulid))
	return fmt.Sprintf("thread-%d", hash.Sum64()%64)
}

func (s dynamoSpoiler) putState(t *testing.T, pkey, skey, aid, state string, numbers fields) {
	t.Helper()
	item := itemOf(fields{"pkey": pkey, "skey": skey, "aid": aid, "payload": state})
	maps.Copy(item, itemOf(numbers))
	s.put(t, s.snapshot, item)
}

func (s dynamoSpoiler) putEvent(t *testing.T, pkey, skey, aid string, serNr any, payload string) map[string]types.AttributeValue {
	t.Helper()
	item := itemOf(fields{"pkey": pkey, "skey": skey, "aid": aid, "payload": payload, "occurred_at": "2023-06-29T03:32:37.404481Z", "ser_nr": serNr})
	s.put(t, s.journal, item)
	return item
}

// itemOf makes texts of strings, and numbers of everything else.
func itemOf(values fields) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{}
	for name, value := range values {
		if text, is := value.(string); is {
			item[name] = &types.AttributeValueMemberS{Value: text}
		} else {
			item[name] = &types.AttributeValueMemberN{Value: fmt.Sprint(value)}
		}
	}
	return item
}

func idOf(t *testing.T, uuid string) string {
	t.Helper()
	id, err := ident.Parse[any](uuid)
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}
