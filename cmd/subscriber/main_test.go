package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRepeatsAreNotPrinted(t *testing.T) {
	var out bytes.Buffer
	printed := map[string]int32{}
	event := func(seqNr string) []byte {
		return []byte(`{"specversion":"1.0","id":"1","source":"/acme/order-1","type":"OrderOpened","time":"2026-01-02T03:04:05Z","seqnr":` + seqNr +
			`,"datacontenttype":"application/json","data":{"number":` + seqNr + `}}`)
	}
	for _, seqNr := range []string{"1", "2", "1", "2", "3"} {
		if err := show(&out, event(seqNr), printed); err != nil {
			t.Fatal(err)
		}
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 3 || !strings.HasSuffix(lines[2], `OrderOpened               /acme/order-1  3  {"number":3}`) {
		t.Errorf("printed\n%s", out.String())
	}
	if err := show(&out, []byte("tea"), printed); err == nil {
		t.Error("a message that is not an event was printed")
	}
}
