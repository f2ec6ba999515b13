package eventjson_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/eventjson"
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
			if broken == whole || strings.HasPrefix(name, "ThreadCreated") && field == "executor_id" {
				continue // the field does not exist, or is optional
			}
			t.Run(name+" without "+field, func(t *testing.T) {
				event, err := eventjson.Threads().Events.Decode([]byte(broken))
				if err == nil {
					t.Fatalf("got %+v", event)
				}
				if id := "01H42KBHCW1BZG504J4ZXKA2F2"; field != "id" && (event.EventID != id || !strings.Contains(err.Error(), id)) {
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
			event, err := eventjson.Threads().Events.Decode([]byte(payload))
			if err == nil {
				t.Errorf("got %+v", event)
			}
		})
	}
	if _, err := eventjson.Threads().Events.Decode([]byte(`{"type":"ThreadDeleted","color":"red",` + envelope + `}`)); err != nil {
		t.Errorf("an unknown field: %v", err)
	}
}

func TestBrokenSnapshots(t *testing.T) {
	whole := string(golden(t, "snapshot-5.json"))
	for about, payload := range map[string]string{
		"nothing":                  ``,
		"cut off":                  whole[:len(whole)/2],
		"a newer format":           strings.Replace(whole, `"format":5`, `"format":6`, 1),
		"without id":               strings.Replace(whole, `"id":`, `"key":`, 1),
		"without members":          strings.Replace(whole, `"members":`, `"persons":`, 1),
		"without version":          strings.Replace(whole, `"version":`, `"edition":`, 1),
		"without name":             strings.Replace(whole, `"name":`, `"title":`, 1),
		"member without number":    strings.Replace(whole, `"role":"Admin","seq_nr":`, `"role":"Admin","place":`, 1),
		"message without id":       strings.Replace(whole, `"messages":[{"id":`, `"messages":[{"key":`, 1),
		"message without sender":   strings.Replace(whole, `"sender_id":`, `"author":`, 1),
		"message without digest":   strings.Replace(whole, `"text_digest":`, `"text_hash":`, 1),
		"a longer digest":          strings.Replace(whole, `"ce06092fb948d9ff"`, `"ce06092fb948d9ff00"`, 1),
		"half a digest":            strings.Replace(whole, `"ce06092fb948d9ff"`, `"ce06092f"`, 1),
		"digest with other digits": strings.Replace(whole, `"ce06`, `"xe06`, 1),
		"message without number":   strings.Replace(whole, `d9ff","seq_nr":`, `d9ff","place":`, 1),
	} {
		t.Run(about, func(t *testing.T) {
			if payload == whole {
				t.Fatal("the golden file has nothing of the kind")
			}
			if id, version, _, err := eventjson.Threads().Snapshots.Decode([]byte(payload)); err == nil || id != "" || version != 0 {
				t.Errorf("got %s at %d, %v", id, version, err)
			}
		})
	}
}

// A snapshot of another release is not broken, and no state without a field that the rules of a newer one need.
func TestOutdatedSnapshots(t *testing.T) {
	whole, first := string(golden(t, "snapshot-5.json")), string(golden(t, "snapshot-1.json"))
	for about, payload := range map[string]string{
		"an earlier format":                  strings.Replace(whole, `"format":5`, `"format":4`, 1),
		"a later version in the first form":  strings.Replace(first, `"version":1`, `"version":2`, 1),
		"a higher counter in the first form": strings.Replace(first, `"seq_nr_counter":1`, `"seq_nr_counter":2`, 1),
		"messages in the first form":         strings.Replace(first, `"messages":[]`, `"messages":[{}]`, 1),
		"a field of a newer release":         strings.Replace(whole, `"name":`, `"topic":"tea","name":`, 1),
		"a member's field of a newer one":    strings.Replace(whole, `"role":"Admin"`, `"muted":true,"role":"Admin"`, 1),
		"a newer field in an earlier format": strings.Replace(whole, `"format":5`, `"format":4,"topic":"tea"`, 1),
	} {
		if id, version, _, err := eventjson.Threads().Snapshots.Decode([]byte(payload)); !errors.Is(err, es.ErrOutdated) || id != "" || version != 0 {
			t.Errorf("%s: got %s at %d, %v", about, id, version, err)
		}
	}
}
