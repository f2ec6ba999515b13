package estest

import (
	"bytes"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es/eventstore"
)

var spoolContracts = []contract{
	{"stored parts are read", Settings{}, func(t *testing.T, h Harness) {
		file, later := ulid.Make().String(), time.Now().Add(time.Hour)
		parts := [][]byte{noise(200_000), []byte("<&> é 😀\n"), bytes.Repeat([]byte("x"), 2<<20), {0, 255}}
		for number, content := range parts {
			putPart(t, h, "", file, uint64(number), content, later)
		}
		for number, content := range parts {
			wantPart(t, h, "", file, uint64(number), content)
		}
		wantNoPart(t, h, "", file, uint64(len(parts)))
		wantNoPart(t, h, "", ulid.Make().String(), 0)
	}},
	{"storing a part again replaces it", Settings{}, func(t *testing.T, h Harness) {
		file := ulid.Make().String()
		for _, content := range []string{"first", "", "second"} {
			putPart(t, h, "", file, 7, []byte(content), time.Now().Add(time.Hour))
			wantPart(t, h, "", file, 7, []byte(content))
		}
	}},
	{"another tenant's file is another file", Settings{}, func(t *testing.T, h Harness) {
		file := ulid.Make().String()
		for _, tenant := range []string{"", "one", "two"} {
			wantNoPart(t, h, tenant, file, 0)
			putPart(t, h, tenant, file, 0, []byte("of "+tenant), time.Now().Add(time.Hour))
		}
		wantPart(t, h, "one", file, 0, []byte("of one"))
	}},
	{"an expired part counts as missing", Settings{}, func(t *testing.T, h Harness) {
		file := ulid.Make().String()
		putPart(t, h, "", file, 0, []byte("gone"), time.Now().Add(-5*time.Second))
		wantNoPart(t, h, "", file, 0)
		putPart(t, h, "", file, 0, []byte("back"), time.Now().Add(time.Hour))
		wantPart(t, h, "", file, 0, []byte("back"))
	}},
	{"a part that is too large is an error", Settings{}, func(t *testing.T, h Harness) {
		if err := h.Gateway.PutPart(t.Context(), "", "file", 0, make([]byte, eventstore.MaxPart+1), time.Now().Add(time.Hour)); err == nil {
			t.Error("the part that is too large was stored")
		}
	}},
}

func putPart(t *testing.T, h Harness, tenant, file string, number uint64, content []byte, expires time.Time) {
	t.Helper()
	if err := h.Gateway.PutPart(t.Context(), tenant, file, number, content, expires); err != nil {
		t.Fatalf("store part %d: %v", number, err)
	}
}

func wantPart(t *testing.T, h Harness, tenant, file string, number uint64, want []byte) {
	t.Helper()
	got, found, err := h.Gateway.Part(t.Context(), tenant, file, number)
	if err != nil || !found || !bytes.Equal(got, want) {
		t.Fatalf("part %d: found %t, %d bytes of %d, %v", number, found, len(got), len(want), err)
	}
}

func wantNoPart(t *testing.T, h Harness, tenant, file string, number uint64) {
	t.Helper()
	if got, found, err := h.Gateway.Part(t.Context(), tenant, file, number); err != nil || found {
		t.Fatalf("part %d: found %t, %d bytes, %v", number, found, len(got), err)
	}
}
