package projectionstore

import "strings"

// table is a table as far as statements need to know it.
type table struct {
	name    string
	key     []string // of the primary key
	columns []string
}

var (
	threads = table{
		name: "threads", key: []string{"tenant_code", "id"},
		columns: []string{"tenant_code", "id", "name", "owner_id", "version", "deleted", "created_at", "updated_at"},
	}
	members = table{
		name: "members", key: []string{"tenant_code", "id"},
		columns: []string{"tenant_code", "id", "thread_id", "user_account_id", "role", "joined_seq", "removed", "created_at", "updated_at"},
	}
	messages = table{
		name: "messages", key: []string{"tenant_code", "id"},
		columns: []string{"tenant_code", "id", "thread_id", "user_account_id", "text", "seq_nr", "deleted", "created_at", "updated_at"},
	}
	checkpoints = table{
		name: "checkpoints", key: []string{"source", "shard"},
		columns: []string{"source", "shard", "position", "updated_at"},
	}
	deadLetters = table{
		name: "dead_letters", key: []string{"tenant_code", "thread_id"},
		columns: []string{"tenant_code", "thread_id", "seq_nr", "event_id", "payload", "reason", "attempts", "parked_at", "retry_at"},
	}
)

func list(columns []string) string { return strings.Join(columns, ", ") }
