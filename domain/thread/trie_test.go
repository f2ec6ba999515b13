package thread

import (
	"maps"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"
)

// The trie is compared with Go's map. Keys consist of few different bytes, so that many have long prefixes in common.
func TestTrieIsAMap(t *testing.T) {
	key := rapid.Custom(func(t *rapid.T) ulid.ULID {
		var key ulid.ULID
		for _, i := range []int{0, 7, 15} {
			key[i] = rapid.SampledFrom([]byte{0x00, 0x01, 0x02, 0x10, 0x11, 0x44}).Draw(t, "byte")
		}
		return key
	})
	rapid.Check(t, func(t *rapid.T) {
		var got trie[int]
		want := map[ulid.ULID]int{}
		for i := range rapid.IntRange(0, 300).Draw(t, "changes") {
			k := key.Draw(t, "key")
			if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
				got = got.without(k)
				delete(want, k)
			} else {
				got = got.with(k, i)
				want[k] = i
			}
		}
		contents := map[ulid.ULID]int{}
		got.all(func(k ulid.ULID, v int) { contents[k] = v })
		if diff := cmp.Diff(want, contents); diff != "" {
			t.Fatal("contents (-want +got):\n" + diff)
		}
		var entries []entry[int]
		for k, v := range want {
			entries = append(entries, entry[int]{k, v})
		}
		if !reflect.DeepEqual(got, trieOf(entries)) {
			t.Fatal("a changed trie differs from one that is made of the same entries")
		}
		if got.size != len(want) {
			t.Fatalf("size %d, want %d", got.size, len(want))
		}
		for k := range maps.Keys(want) {
			if v, found := got.get(k); !found || v != want[k] {
				t.Fatalf("%s: got %d, %v", k, v, found)
			}
		}
		if _, found := got.get(ulid.ULID{3: 0xff}); found {
			t.Fatal("found a key that was never inserted")
		}
	})
}
