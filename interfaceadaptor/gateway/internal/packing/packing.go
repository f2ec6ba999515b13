// Package packing makes snapshots small before a gateway stores them, and tells broken ones from whole ones when it reads
// them back. Both gateways use it: gateway/dynamodb and gateway/sqlstore.
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

	// MaxState bounds what a broken snapshot can make a reader allocate, in bytes; a thread of 100,000 messages has about
	// 6 MB.
	MaxState = 512 << 20

	// codecs is how many snapshots are compressed, and how many are decompressed, at once; others wait.
	codecs = 2
)

// Packed is a state as it is stored.
type Packed struct {
	Bytes    []byte
	Encoding string // of Bytes; empty: none
	Checksum string // SHA-256 of Bytes, hexadecimal; empty: not known
}

// Packer packs and unpacks. It is safe for concurrent use.
type Packer struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// New makes a Packer.
func New() (*Packer, error) {
	// Identifiers are mostly random: what is there to be found, the fastest level finds, and packs no worse than the others.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(codecs), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(codecs), zstd.WithDecoderMaxMemory(MaxState))
	if err != nil {
		return nil, fmt.Errorf("prepare decompression: %w", err)
	}
	return &Packer{encoder, decoder}, nil
}

// Pack compresses a state.
func (p *Packer) Pack(state []byte) Packed {
	stored := p.encoder.EncodeAll(state, make([]byte, 0, len(state)/3))
	return Packed{Bytes: stored, Encoding: encodingZstd, Checksum: checksumOf(stored)}
}

// Unpack returns the state, or why it can't be had. What has no checksum or no encoding was written by another program,
// and is taken as it is.
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
