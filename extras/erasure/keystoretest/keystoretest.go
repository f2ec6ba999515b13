// Package keystoretest tests the contract of [erasure.Store].
package keystoretest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/extras/erasure"
)

// Run tests a store without entries against the contract.
func Run(t *testing.T, store erasure.Store) {
	const none, acme = es.Tenant(""), es.Tenant("acme")
	at := time.UnixMilli(1_700_000_000_000).UTC()
	keys := func(tenant es.Tenant, owners ...string) map[string]erasure.Entry {
		t.Helper()
		found, err := store.Keys(t.Context(), tenant, owners)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	create := func(tenant es.Tenant, owner, key string) erasure.Entry {
		t.Helper()
		entry, err := store.Create(t.Context(), tenant, owner, []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		return entry
	}
	destroy := func(owner string, at time.Time) {
		t.Helper()
		if err := store.Destroy(t.Context(), none, owner, at); err != nil {
			t.Fatal(err)
		}
	}
	const tombstone = ""
	want := func(about string, got erasure.Entry, key string) {
		t.Helper()
		wanted := erasure.Entry{Wrapped: []byte(key)}
		if key == tombstone {
			wanted = erasure.Entry{ErasedAt: at}
		}
		if fmt.Sprint(got) != fmt.Sprint(wanted) {
			t.Errorf("%s: %+v, want %+v", about, got, wanted)
		}
	}

	if found := keys(none, "ada", "bob"); len(found) != 0 {
		t.Errorf("in an empty store are %v", found)
	}
	want("the first", create(none, "ada", "a\x00\xff"), "a\x00\xff")
	want("a second key, which comes too late", create(none, "ada", "other"), "a\x00\xff")
	want("the same owner in another tenant", create(acme, "ada", "acme's"), "acme's")
	found := keys(none, "ada", "bob")
	want("read", found["ada"], "a\x00\xff")
	if _, exists := found["bob"]; exists {
		t.Error("an owner without a key has one")
	}

	destroy("ada", at)
	destroy("ada", at.Add(time.Hour))
	want("destroyed", keys(none, "ada")["ada"], tombstone)
	want("created again", create(none, "ada", "new"), tombstone)
	want("still destroyed", keys(none, "ada")["ada"], tombstone)
	want("in another tenant", keys(acme, "ada")["ada"], "acme's")
	destroy("bob", at)
	want("destroyed before it had a key", create(none, "bob", "new"), tombstone)

	var together sync.WaitGroup
	got := make([]erasure.Entry, 8)
	for i := range got {
		together.Go(func() { got[i], _ = store.Create(t.Context(), acme, "cleo", fmt.Appendf(nil, "key %d", i)) })
	}
	together.Wait()
	for _, entry := range got {
		if len(entry.Wrapped) == 0 || !bytes.Equal(entry.Wrapped, got[0].Wrapped) {
			t.Errorf("of keys created at the same time, both %q and %q were returned", entry.Wrapped, got[0].Wrapped)
		}
	}

	var many []string
	for i := range 250 {
		many = append(many, fmt.Sprintf("owner-%d", i))
		if i%2 == 0 {
			create(none, many[i], many[i])
		}
	}
	found = keys(none, many...)
	if len(found) != 125 {
		t.Errorf("of 125 keys %d were found", len(found))
	}
	want("one of many", found["owner-248"], "owner-248")
}
