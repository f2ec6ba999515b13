package projectionstore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/sqldialect"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// keysAtOnce is how many keys a statement asks for at most.
const keysAtOnce = 500

// rowKey is a primary key: of a thread, a member or a message.
type rowKey struct {
	Tenant string `db:"tenant_code"`
	ID     string `db:"id"`
}

func (k rowKey) compare(other rowKey) int {
	return cmp.Or(cmp.Compare(k.Tenant, other.Tenant), cmp.Compare(k.ID, other.ID))
}

func threadRowKey(key usecase.ThreadKey) rowKey {
	return rowKey{Tenant: key.Tenant.String(), ID: key.Thread.String()}
}

func memberRowKey(key projection.MemberKey) rowKey {
	return rowKey{Tenant: key.Tenant.String(), ID: key.ID.String()}
}

func messageRowKey(key projection.MessageKey) rowKey {
	return rowKey{Tenant: key.Tenant.String(), ID: key.ID.String()}
}

func threadRowKeys(keys []usecase.ThreadKey) []rowKey { return rowKeys(keys, threadRowKey) }

// rowKeys are keys in the order of the primary key, each once.
func rowKeys[K any](keys []K, of func(K) rowKey) []rowKey {
	result := make([]rowKey, len(keys))
	for i, key := range keys {
		result[i] = of(key)
	}
	slices.SortFunc(result, rowKey.compare)
	return slices.Compact(result)
}

// thread is the key as the domain has it.
func (k rowKey) thread() (usecase.ThreadKey, error) {
	tenant, id, err := parseKey[thread.Thread](k)
	return usecase.ThreadKey{Tenant: tenant, Thread: id}, err
}

func parseKey[T any](k rowKey) (usecase.Tenant, thread.IDOf[T], error) {
	tenant, err := usecase.ParseTenant(k.Tenant)
	if err != nil {
		return tenant, thread.IDOf[T]{}, fmt.Errorf("a row of the read model with tenant_code %q: %w", k.Tenant, err)
	}
	id, err := parseID[T](k.ID)
	return tenant, id, err
}

func parseID[T any](text string) (thread.IDOf[T], error) {
	id, err := thread.ParseID[T](text)
	if err != nil {
		return id, fmt.Errorf("a row of the read model with the identifier %q: %w", text, err)
	}
	return id, nil
}

// eachKeys calls do with as many of the keys as a statement takes, in order.
func eachKeys(keys []rowKey, do func([]rowKey) error) error {
	for some := range slices.Chunk(keys, keysAtOnce) {
		if err := do(some); err != nil {
			return err
		}
	}
	return nil
}

// whereKeys is the condition that finds keys, which are in order, by the primary key of tenant_code and idColumn. It
// is written so that every optimizer reads ranges of the index, which a list of pairs is not for all of them.
func whereKeys(idColumn string, keys []rowKey) (string, []any) {
	var conditions []string
	var args []any
	for len(keys) > 0 {
		tenant := keys[0].Tenant
		end := slices.IndexFunc(keys, func(key rowKey) bool { return key.Tenant != tenant })
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
