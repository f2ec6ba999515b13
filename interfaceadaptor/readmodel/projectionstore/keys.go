package projectionstore

import (
	"slices"

	"example.com/threads/interfaceadaptor/readmodel/internal/rowkey"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// keysAtOnce is how many keys a statement asks for at most.
const keysAtOnce = 500

func memberRowKey(key projection.MemberKey) rowkey.Key { return rowkey.Of(key.Tenant, key.ID) }

func messageRowKey(key projection.MessageKey) rowkey.Key { return rowkey.Of(key.Tenant, key.ID) }

func threadRowKeys(keys []usecase.Key) []rowkey.Key {
	return rowkey.InOrder(keys, rowkey.OfThread)
}

// eachKeys calls do with as many of the keys as a statement takes, in order.
func eachKeys(keys []rowkey.Key, do func([]rowkey.Key) error) error {
	for some := range slices.Chunk(keys, keysAtOnce) {
		if err := do(some); err != nil {
			return err
		}
	}
	return nil
}
