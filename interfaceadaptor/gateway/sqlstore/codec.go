package sqlstore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

const (
	encodingZstd = "zstd"

	// maxState bounds what a broken snapshot can make the decoder allocate; a thread of 100,000 messages has about 6 MB.
	maxState = 512 << 20

	// codecs is how many snapshots are compressed, and how many are decompressed, at once; others wait.
	codecs = 2
)

func newCodec() (*zstd.Encoder, *zstd.Decoder, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(codecs))
	if err != nil {
		return nil, nil, fmt.Errorf("prepare compression: %w", err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(codecs), zstd.WithDecoderMaxMemory(maxState))
	if err != nil {
		return nil, nil, fmt.Errorf("prepare decompression: %w", err)
	}
	return encoder, decoder, nil
}

// unpack turns the bytes of a stored snapshot into the state.
func (g *Gateway) unpack(row snapshotRow) ([]byte, error) {
	if row.Checksum != checksumOf(row.Snapshot) {
		return nil, errors.New("its bytes do not match its checksum")
	}
	if row.Encoding != encodingZstd {
		return nil, fmt.Errorf("its encoding %q is unknown", row.Encoding)
	}
	return g.decoder.DecodeAll(row.Snapshot, nil)
}

func checksumOf(stored []byte) string {
	sum := sha256.Sum256(stored)
	return hex.EncodeToString(sum[:])
}
