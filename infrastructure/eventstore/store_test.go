package eventstore_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
)

func TestNumbersOfShards(t *testing.T) {
	for text, want := range map[string][]int{
		"": {64}, "16": {16}, "16,64": {16, 64}, "65536,64,1": {65536, 64, 1},
		"0": nil, "65537": nil, "16,": nil, "16, 64": nil, "16,16": nil, "many": nil, "-1": nil,
	} {
		settings, err := config.Read(func(name string) string {
			if name == "SHARD_COUNT" {
				return text
			}
			return ""
		}, eventstore.ReadSettings)
		if want == nil && (err == nil || !strings.Contains(err.Error(), "SHARD_COUNT")) || want != nil && (err != nil || !slices.Equal(settings.Shards, want)) {
			t.Errorf("%q: %v, %v", text, settings.Shards, err)
		}
	}
}
