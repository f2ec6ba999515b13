package erasure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"example.com/threads/es"
)

// OpenJSON returns a JSON document with all its sealed texts opened. Everything else stays unchanged, byte for byte; a
// document without sealed texts is returned itself.
func (k *Keyring) OpenJSON(ctx context.Context, tenant es.Tenant, document []byte) ([]byte, error) {
	const written = `"\u0001` // the JSON form of a sealed text's mark
	if !bytes.Contains(document, []byte(written)) {
		return document, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	type place struct{ from, to int }
	var places []place
	var texts []Text
	for {
		before := int(decoder.InputOffset())
		token, err := decoder.Token()
		if err != nil {
			break // the end, or invalid JSON: the rest stays unchanged
		}
		if text, is := token.(string); is && IsSealed(text) {
			to := int(decoder.InputOffset())
			from := before + bytes.IndexByte(document[before:to], '"')
			places, texts = append(places, place{from, to}), append(texts, Text{Value: &text})
		}
	}
	if err := k.Open(ctx, tenant, texts); err != nil {
		return nil, err
	}
	var result []byte
	end := 0
	for i, at := range places {
		var encoded bytes.Buffer
		encoder := json.NewEncoder(&encoded)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(*texts[i].Value); err != nil {
			return nil, fmt.Errorf("write an opened text as JSON: %w", err)
		}
		result = append(append(result, document[end:at.from]...), bytes.TrimSuffix(encoded.Bytes(), []byte("\n"))...)
		end = at.to
	}
	return append(result, document[end:]...), nil
}
