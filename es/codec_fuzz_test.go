package es

import (
	standard "encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/segmentio/encoding/json"
)

// Payloads are written and read by a faster JSON library. It must read whatever the standard library reads, as that
// reads it, and reject the rest; and the standard library must read what it writes.
func FuzzJSONIsThatOfTheStandardLibrary(f *testing.F) {
	f.Add([]byte(`{"type":"NoteWritten","id":"01M8155NK5H7QPST5PEMADYFRS","aggregate_id":{"value":"01M8155A0QHQ19ZQ33X8YG5HET"},` +
		`"SEQ_NR":31,"own":{"text":"said \ud800\u00e9\n","number":3,"list":["a","b"]},"executor_id":{"value":"01M8155868QXS34NJY4A41YAGG"},` +
		`"occurred_at":"2026-11-22T08:15:12.997310Z","tenant_code":"","source":"<&>` + "\u2028\xff" + `"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		type wire struct {
			envelopeHead
			envelopeTail
			Own struct {
				Text   string   `json:"text"`
				Number *int     `json:"number,omitempty"`
				List   []string `json:"list"`
			} `json:"own"`
		}
		var found, expected, again wire
		err, expectedErr := json.Unmarshal(payload, &found), standard.Unmarshal(payload, &expected)
		if (err == nil) != (expectedErr == nil) || err == nil && !reflect.DeepEqual(found, expected) {
			t.Fatalf("%q is read as %+v, %v; the standard library reads %+v, %v", payload, found, err, expected, expectedErr)
		}
		if err != nil || !utf8.Valid(payload) {
			return // an id is checked by its codec
		}
		written, err := marshal(found)
		if err == nil {
			err = standard.Unmarshal(written, &again)
		}
		if err != nil || !reflect.DeepEqual(again, found) {
			t.Errorf("%+v is written as %q, which the standard library reads as %+v, %v", found, written, again, err)
		}
	})
}
