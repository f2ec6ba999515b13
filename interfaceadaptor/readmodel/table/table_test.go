package table_test

import (
	"fmt"
	"slices"
	"testing"

	"example.com/threads/interfaceadaptor/readmodel/table"
	"example.com/threads/usecase"
)

func TestAConditionGoesGroupByGroup(t *testing.T) {
	for _, test := range []struct {
		keys  [][]string
		where string
		args  string
	}{
		{[][]string{{"acme", "1"}}, "(tenant = ? AND id IN (?))", "[acme 1]"},
		{[][]string{{"", "3"}, {"a", "9"}, {"b", "1"}, {"b", "2"}},
			"(tenant = ? AND id IN (?)) OR (tenant = ? AND id IN (?)) OR (tenant = ? AND id IN (?, ?))", "[ 3 a 9 b 1 2]"},
	} {
		where, args := table.Where([]string{"tenant", "id"}, slices.Clone(test.keys))
		if where != test.where || fmt.Sprint(args) != test.args {
			t.Errorf("%v: %s with %v", test.keys, where, args)
		}
	}
}

func TestARowThatCanNotBeReadBlamesNobody(t *testing.T) {
	var tenant usecase.Tenant
	field, scans := table.Tenant(&tenant).(interface{ Scan(any) error })
	if !scans {
		t.Fatal("the field can't be scanned into")
	}
	if err := field.Scan("not a tenant"); err == nil || usecase.KindOf(err) != usecase.Internal {
		t.Errorf("got %v", err)
	}
	if err := field.Scan([]byte("acme")); err != nil || tenant.String() != "acme" {
		t.Errorf("got %q, %v", tenant, err)
	}
}
