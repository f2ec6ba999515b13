package rowkey_test

import (
	"fmt"
	"slices"
	"testing"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/readmodel/internal/rowkey"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
)

func TestAConditionGoesTenantByTenant(t *testing.T) {
	same := func(key rowkey.Key) rowkey.Key { return key }
	for _, test := range []struct {
		keys  []rowkey.Key
		where string
		args  string
	}{
		{[]rowkey.Key{{"acme", "1"}}, "(tenant_code = ? AND k IN (?))", "[acme 1]"},
		{[]rowkey.Key{{"b", "2"}, {"a", "9"}, {"b", "1"}, {"", "3"}, {"b", "2"}},
			"(tenant_code = ? AND k IN (?)) OR (tenant_code = ? AND k IN (?)) OR (tenant_code = ? AND k IN (?, ?))", "[ 3 a 9 b 1 2]"},
	} {
		where, args := rowkey.Where("k", rowkey.InOrder(test.keys, same))
		if where != test.where || fmt.Sprint(args) != test.args {
			t.Errorf("%v: %s with %v", test.keys, where, args)
		}
	}
}

func TestVersionsOfMoreThanAStatementAsksFor(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		alice := readmodeltest.NewUser()
		want := map[usecase.Key]uint64{}
		var keys []usecase.Key
		for _, code := range []string{"acme", "", "globex"} {
			w := db.World(t, code)
			for range 3 {
				key := w.Key(w.Thread("chat", alice))
				want[key] = w.Rename(chat.ThreadID(key), "renamed")
				keys = append(keys, key, key)
			}
			keys = append(keys, w.Key(readmodeltest.NewID[thread.Thread]()))
		}
		for atOnce, statements := range map[int]int64{len(keys): 1, 12: 1, 5: 3, 1: 12} {
			before := db.Statements()
			got, err := rowkey.Versions(t.Context(), db.Counted, slices.Clone(keys), atOnce)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d at once: %v, %v; want %v", atOnce, got, err, want)
			}
			if spent := db.Statements() - before; spent != statements {
				t.Errorf("%d at once: %d statements, want %d", atOnce, spent, statements)
			}
		}
	})
}

func TestARowThatCanNotBeReadBlamesNobody(t *testing.T) {
	for _, key := range []rowkey.Key{{Tenant: "not a tenant", ID: readmodeltest.NewUser().String()}, {Tenant: "acme", ID: "not an id"}} {
		if got, err := key.Thread(); err == nil || usecase.KindOf(err) != usecase.Internal {
			t.Errorf("%+v: %+v, %v", key, got, err)
		}
	}
}
