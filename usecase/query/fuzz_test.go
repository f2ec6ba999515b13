package query_test

import (
	"testing"

	"example.com/threads/usecase/query"
)

func FuzzParseTokens(f *testing.F) {
	for _, seed := range []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV:3", "01ARZ3NDEKTSV4RRFFQ69G5FAV:3, 01BX5ZZKBKACTAV9WEVGEMMVRZ:18446744073709551615", ":", ",,"} {
		f.Add(seed)
	}
	queries := query.New(nil, nil, query.Settings{})
	f.Fuzz(func(t *testing.T, text string) {
		if tokens, err := queries.ParseTokens(text); err == nil && (len(tokens) == 0 || len(tokens) > 20) {
			t.Errorf("%q has %d tokens", text, len(tokens))
		}
	})
}
