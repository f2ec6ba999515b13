package rowkey

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/sqldialect"
	"example.com/threads/usecase"
)

// Key is a primary key: of a thread, a member or a message.
type Key struct {
	Tenant string `db:"tenant_code"`
	ID     string `db:"id"`
}

// Of is the key of what has an id in a tenant.
func Of[T any](tenant usecase.Tenant, id ident.Of[T]) Key {
	return Key{Tenant: tenant.String(), ID: id.String()}
}

// OfThread is the key of a thread's row.
func OfThread(key usecase.Key) Key { return Key{Tenant: key.Tenant.String(), ID: key.ID} }

// InOrder are keys in the order of the primary key, each once.
func InOrder[K any](keys []K, of func(K) Key) []Key {
	result := make([]Key, len(keys))
	for i, key := range keys {
		result[i] = of(key)
	}
	slices.SortFunc(result, Key.compare)
	return slices.Compact(result)
}

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Tenant, other.Tenant), cmp.Compare(k.ID, other.ID))
}

// Where is the condition that finds keys, one at least and in order, by the primary key of tenant_code and idColumn. It
// goes tenant by tenant: a list of pairs is written differently on SQLite and MySQL, and not every optimizer reads ranges
// of the index for it.
func Where(idColumn string, keys []Key) (string, []any) {
	var conditions []string
	var args []any
	for len(keys) > 0 {
		tenant := keys[0].Tenant
		end := slices.IndexFunc(keys, func(key Key) bool { return key.Tenant != tenant })
		if end < 0 {
			end = len(keys)
		}
		conditions = append(conditions, fmt.Sprintf("(tenant_code = ? AND %s IN (%s))", idColumn, sqldialect.Marks(end)))
		args = append(args, tenant)
		for _, key := range keys[:end] {
			args = append(args, key.ID)
		}
		keys = keys[end:]
	}
	return strings.Join(conditions, " OR "), args
}
