// Package packing compresses snapshots for dynamodb and sqlstore, and detects broken ones when they are read: a stored
// checksum is that of the compressed bytes, so that damage is found before they are unpacked.
package packing

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

const (
	encodingZstd = "zstd"
	codecs       = 2 // concurrent compressions at most, and concurrent decompressions

	// MaxState is the maximum size of an unpacked state, in bytes. It limits the memory that a broken snapshot can make
	// a reader allocate; a state with 100,000 messages has about 13 MB.
	MaxState = 512 << 20
)

// Packed is a state in its stored form.
type Packed struct {
	Bytes    []byte
	Encoding string // of Bytes; empty: not compressed
	Checksum string // SHA-256 of Bytes, hexadecimal; empty: unknown
}

// Packer packs and unpacks. It is safe for concurrent use.
type Packer struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// New returns a Packer.
func New() *Packer {
	// Both fail only for invalid options. States are mostly random ids, which higher levels compress no better.
	encoder, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(codecs), zstd.WithEncoderLevel(zstd.SpeedFastest))
	decoder, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(codecs), zstd.WithDecoderMaxMemory(MaxState))
	return &Packer{encoder, decoder}
}

// Pack compresses a state.
func (p *Packer) Pack(state []byte) Packed {
	stored := p.encoder.EncodeAll(state, make([]byte, 0, len(state)/4*3))
	return Packed{Bytes: stored, Encoding: encodingZstd, Checksum: checksumOf(stored)}
}

// Unpack returns the state, or an error if it is broken. Other programs may write it without checksum or encoding.
func (p *Packer) Unpack(stored Packed) ([]byte, error) {
	if stored.Checksum != "" && stored.Checksum != checksumOf(stored.Bytes) {
		return nil, errors.New("its bytes do not match its checksum")
	}
	switch stored.Encoding {
	case "":
		return stored.Bytes, nil
	case encodingZstd:
		return p.decoder.DecodeAll(stored.Bytes, nil)
	default:
		return nil, fmt.Errorf("its encoding %q is unknown", stored.Encoding)
	}
}

func checksumOf(stored []byte) string {
	sum := sha256.Sum256(stored)
	return hex.EncodeToString(sum[:])
}
