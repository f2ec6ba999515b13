package dynamodb

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

// unpack turns a snapshot's bytes, put together from all its items, into the state. main is the item that describes
// them; one without a checksum or an encoding was written by another program, and is taken as it is.
func (g *Gateway) unpack(main item, stored []byte) ([]byte, error) {
	if want := main.text("checksum"); want != "" && want != checksumOf(stored) {
		return nil, errors.New("its bytes do not match its checksum")
	}
	switch encoding := main.text("encoding"); encoding {
	case "":
		return stored, nil
	case encodingZstd:
		return g.decoder.DecodeAll(stored, nil)
	default:
		return nil, fmt.Errorf("its encoding %q is unknown", encoding)
	}
}

func checksumOf(stored []byte) string {
	sum := sha256.Sum256(stored)
	return hex.EncodeToString(sum[:])
}
