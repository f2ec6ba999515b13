package rest

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzMembers compares the members of an object with those that encoding/json finds.
func FuzzMembers(f *testing.F) {
	for _, raw := range []string{
		`{}`, ` { "a" : 1 , "b":[1,{"c":"}"}] ,"a":"\\\"" } `, `{"\u0061":null,"":-1.5e+9}`, `{"a":{},"b":[],"c":"\\\\","d":"\\","e":true}`, `[1]`, `7`, "{\"a\":\n[\t]\r}",
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var found Members
		isObject := isJSON(raw)
		if isObject {
			found, isObject = membersOf(raw)
		}
		var want map[string]json.RawMessage
		if got := json.Unmarshal(raw, &want) == nil && want != nil && isJSON(raw); got != isObject {
			t.Fatalf("%q: an object: %t", raw, isObject)
		}
		if !isObject {
			return
		}
		last := map[string]json.RawMessage{}
		for _, m := range found {
			last[m.Name] = m.Value
		}
		if len(last) != len(want) {
			t.Fatalf("%q: %q", raw, last)
		}
		for name, value := range want {
			if !bytes.Equal(last[name], value) {
				t.Errorf("%q: %q is %q", raw, name, last[name])
			}
		}
	})
}
