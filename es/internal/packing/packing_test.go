package packing_test

import (
	"bytes"
	"testing"

	"example.com/threads/es/internal/packing"
)

func TestStatesComeBack(t *testing.T) {
	packer := packing.New()
	for about, state := range map[string][]byte{"a text": bytes.Repeat([]byte("tea "), 10_000), "one byte": {0}, "nothing": {}} {
		packed := packer.Pack(state)
		if got, err := packer.Unpack(packed); err != nil || !bytes.Equal(got, state) {
			t.Errorf("%s: %d bytes, %v", about, len(got), err)
		}
		if len(state) > 100 && len(packed.Bytes) > len(state)/10 {
			t.Errorf("%s: %d bytes are packed into %d", about, len(state), len(packed.Bytes))
		}
	}
	foreign := packing.Packed{Bytes: []byte(`{"as":"it is"}`)}
	if got, err := packer.Unpack(foreign); err != nil || !bytes.Equal(got, foreign.Bytes) {
		t.Errorf("a state that was never packed: %s, %v", got, err)
	}
}

func TestBrokenStatesAreTold(t *testing.T) {
	packer := packing.New()
	whole := packer.Pack([]byte("a state"))
	for about, stored := range map[string]packing.Packed{
		"a flipped bit":    {Bytes: append([]byte{whole.Bytes[0] ^ 1}, whole.Bytes[1:]...), Encoding: whole.Encoding, Checksum: whole.Checksum},
		"a missing end":    {Bytes: whole.Bytes[:len(whole.Bytes)-1], Encoding: whole.Encoding, Checksum: whole.Checksum},
		"another encoding": {Bytes: whole.Bytes, Encoding: "brotli", Checksum: whole.Checksum},
		"no zstd":          {Bytes: []byte("a state"), Encoding: whole.Encoding},
	} {
		if got, err := packer.Unpack(stored); err == nil {
			t.Errorf("%s: %q", about, got)
		}
	}
}
