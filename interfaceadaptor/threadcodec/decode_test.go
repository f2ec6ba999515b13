package threadcodec_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/threads/domain/thread"
	"example.com/threads/es/eventcodec"
	"example.com/threads/interfaceadaptor/threadcodec"
)

// An incomplete event must be an error that names it, never an event with zero values.
func TestBrokenEvents(t *testing.T) {
	for name := range today {
		whole := strings.TrimSpace(string(golden(t, name+".json")))
		for _, field := range []string{
			"type", "id", "aggregate_id", "seq_nr", "occurred_at", "executor_id",
			"name", "members", "member", "member_id", "user_account_id", "role", "message", "message_id", "text", "sender_id",
		} {
			broken := strings.ReplaceAll(whole, `"`+field+`":`, `"no_`+field+`":`)
			if broken == whole || name == "ThreadCreated" && field == "executor_id" {
				continue // the field does not exist, or is optional
			}
			t.Run(name+" without "+field, func(t *testing.T) {
				event, err := threadcodec.Events().Decode([]byte(broken))
				var decodeError *eventcodec.DecodeError
				if !errors.As(err, &decodeError) {
					t.Fatalf("got %+v, %v", event, err)
				}
				if field != "id" && decodeError.EventID != "01H42KBHCW1BZG504J4ZXKA2F2" {
					t.Errorf("the error does not name the event: %v", err)
				}
			})
		}
	}
	const envelope = `"id":"01H42KBHCW1BZG504J4ZXKA2F2","aggregate_id":{"value":"01H42K4ABWQ5V2XQEP3A48VE0Z"},"seq_nr":1,
		"executor_id":"01H42KBHCWA0000000000000AD","occurred_at":"2023-06-29T03:32:37Z"`
	for about, payload := range map[string]string{
		"nothing":           ``,
		"no JSON":           `tea`,
		"null":              `null`,
		"an array":          `[]`,
		"an unknown type":   `{"type":"ThreadPainted",` + envelope + `}`,
		"a negative number": `{"type":"ThreadDeleted",` + strings.Replace(envelope, `"seq_nr":1`, `"seq_nr":-1`, 1) + `}`,
		"an impossible id":  `{"type":"ThreadDeleted",` + strings.Replace(envelope, `01H42K4A`, `U1H42K4A`, 1) + `}`,
		"an empty name":     `{"type":"ThreadRenamed","name":"",` + envelope + `}`,
		"an unknown role":   `{"type":"ThreadMemberRoleChanged","member_id":"01H42KBHCWA0000000000000AD","user_account_id":"01H42KBHCWA0000000000000AD","role":"King",` + envelope + `}`,
		"a broken tenant":   `{"type":"ThreadDeleted","tenant_code":"A#",` + envelope + `}`,
		"trailing data":     `{"type":"ThreadDeleted",` + envelope + `} {}`,
	} {
		t.Run(about, func(t *testing.T) {
			event, err := threadcodec.Events().Decode([]byte(payload))
			var decodeError *eventcodec.DecodeError
			if !errors.As(err, &decodeError) {
				t.Errorf("got %+v, %v", event, err)
			}
		})
	}
	if _, err := threadcodec.Events().Decode([]byte(`{"type":"ThreadDeleted","color":"red",` + envelope + `}`)); err != nil {
		t.Errorf("an unknown field: %v", err)
	}
}

func TestBrokenSnapshots(t *testing.T) {
	whole, listed := string(golden(t, "snapshot-4.json")), string(golden(t, "snapshot-3.json"))
	for about, payload := range map[string]string{
		"nothing":                ``,
		"cut off":                whole[:len(whole)/2],
		"newer format":           strings.Replace(whole, `"format":4`, `"format":5`, 1),
		"without members":        strings.Replace(whole, `"members":`, `"persons":`, 1),
		"without version":        strings.Replace(whole, `"version":`, `"edition":`, 1),
		"without name":           strings.Replace(whole, `"name":`, `"title":`, 1),
		"no base64":              strings.Replace(whole, `"ids":"`, `"ids":"-`, 1),
		"half an id":             strings.Replace(whole, `"ids":"`, `"ids":"AAAA`, 1),
		"another sender":         strings.Replace(whole, `"senders":"AAI="`, `"senders":"AAQ="`, 1),
		"a sender below":         strings.Replace(whole, `"senders":"AAI="`, `"senders":"AAE="`, 1),
		"many senders":           strings.Replace(whole, `"senders":"`, `"senders":"AAAA`, 1),
		"many digests":           strings.Replace(whole, `"text_digests":"`, `"text_digests":"AAAA`, 1),
		"many numbers":           strings.Replace(whole, `"seq_nrs":"`, `"seq_nrs":"AAAA`, 1),
		"many edits":             strings.Replace(whole, `"edited_seq_nrs":"`, `"edited_seq_nrs":"AAAA`, 1),
		"a broken number":        strings.Replace(whole, `"edited_seq_nrs":"Cg=="`, `"edited_seq_nrs":"gA=="`, 1),
		"without ids":            strings.Replace(whole, `"ids":`, `"keys":`, 1),
		"without users":          strings.Replace(whole, `"users":`, `"persons":`, 1),
		"without senders":        strings.Replace(whole, `"senders":`, `"authors":`, 1),
		"without digests":        strings.Replace(whole, `"text_digests":`, `"hashes":`, 1),
		"without numbers":        strings.Replace(whole, `"seq_nrs":`, `"places":`, 1),
		"a list, without sender": strings.Replace(listed, `"sender_id":`, `"author":`, 1),
		"a list, without digest": strings.Replace(listed, `"text_digest":`, `"text_hash":`, 1),
		"a list, broken digest":  strings.Replace(listed, `"text_digest":"`, `"text_digest":"x`, 1),
	} {
		t.Run(about, func(t *testing.T) {
			if payload == whole || payload == listed {
				t.Fatal("the golden file has nothing of the kind")
			}
			if id, version, _, err := (threadcodec.Snapshots{}).Decode([]byte(payload)); err == nil || id != "" || version != 0 {
				t.Errorf("got %s at %d, %v", id, version, err)
			}
		})
	}
}

func TestTheDigestOfATextInAnOldSnapshotIsThatOfTheText(t *testing.T) {
	old := strings.Replace(string(golden(t, "snapshot-1.json")), `"messages":[]`,
		`"messages":[{"id":{"value":"01H42KBHCWC000000000000HE1"},"text":"hello","sender_id":{"value":"01H42KBHCWA0000000000000AD"}}]`, 1)
	_, _, state, err := threadcodec.Snapshots{}.Decode([]byte(old))
	if err != nil {
		t.Fatal(err)
	}
	want := thread.MessageDigest{ID: hello, Sender: ada, Text: thread.RecordedText("hello").Digest()}
	if got := state.Memento().Messages; len(got) != 1 || got[0] != want {
		t.Errorf("got %v", got)
	}
}
