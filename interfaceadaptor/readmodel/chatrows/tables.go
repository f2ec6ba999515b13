package chatrows

import (
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/usecase/query"
)

// The tables of the read model, for writing and reading.
var (
	Threads = table.Table[query.Thread]{
		Name: "threads", Key: 2,
		Columns: []string{"tenant_code", "id", "name", "code", "owner_id", "version", "deleted", "created_at", "updated_at",
			"created_by", "updated_by", "created_ip", "updated_ip", "request_id", "source"},
		ID: func(r *query.Thread) []string { return []string{r.Tenant.String(), r.ID.String()} },
		Fields: func(r *query.Thread) []any {
			return []any{
				table.Tenant(&r.Tenant), id(&r.ID), &r.Name, table.Text(&r.Code, codeOf), id(&r.Owner), &r.Version, &r.Deleted,
				table.Time(&r.CreatedAt), table.Time(&r.UpdatedAt),
				knownID(&r.CreatedBy), knownID(&r.UpdatedBy), &r.CreatedIP, &r.UpdatedIP, &r.RequestID, &r.Source,
			}
		},
	}
	Members = table.Table[query.Member]{
		Name: "members", Key: 2,
		Columns: []string{"tenant_code", "id", "thread_id", "user_account_id", "role", "joined_seq", "removed", "created_at", "updated_at",
			"created_by", "updated_by", "created_ip", "updated_ip", "request_id", "source"},
		ID: func(r *query.Member) []string { return []string{r.Tenant.String(), r.ID.String()} },
		Fields: func(r *query.Member) []any {
			return []any{
				table.Tenant(&r.Tenant), id(&r.ID), id(&r.Thread), id(&r.User), table.Text(&r.Role, thread.ParseRole), &r.JoinedSeq, &r.Removed,
				table.Time(&r.CreatedAt), table.Time(&r.UpdatedAt),
				knownID(&r.CreatedBy), knownID(&r.UpdatedBy), &r.CreatedIP, &r.UpdatedIP, &r.RequestID, &r.Source,
			}
		},
	}
	Accounts = table.Table[query.Account]{
		Name: "accounts", Key: 2,
		Columns: append([]string{"tenant_code", "id", "name", "closed", "version", "created_at", "updated_at"}, AuditColumns...),
		ID:      func(r *query.Account) []string { return []string{r.Tenant.String(), r.ID.String()} },
		Fields: func(r *query.Account) []any {
			return append([]any{
				table.Tenant(&r.Tenant), id(&r.ID), &r.Name, &r.Closed, &r.Version, table.Time(&r.CreatedAt), table.Time(&r.UpdatedAt),
			}, AuditFields(&r.Audit)...)
		},
	}
	Messages = table.Table[query.Message]{
		Name: "messages", Key: 2,
		Columns: []string{"tenant_code", "id", "thread_id", "user_account_id", "text", "seq_nr", "deleted", "created_at", "updated_at",
			"created_by", "updated_by", "created_ip", "updated_ip", "request_id", "source"},
		ID: func(r *query.Message) []string { return []string{r.Tenant.String(), r.ID.String()} },
		Fields: func(r *query.Message) []any {
			return []any{
				table.Tenant(&r.Tenant), id(&r.ID), id(&r.Thread), id(&r.Sender), &r.Text, &r.SeqNr, &r.Deleted,
				table.Time(&r.CreatedAt), table.Time(&r.UpdatedAt),
				knownID(&r.CreatedBy), knownID(&r.UpdatedBy), &r.CreatedIP, &r.UpdatedIP, &r.RequestID, &r.Source,
			}
		},
	}
)

// AuditColumns are the columns of [AuditFields].
var AuditColumns = []string{"created_by", "updated_by", "created_ip", "updated_ip", "request_id", "source"}

func AuditFields(a *query.Audit) []any {
	return []any{knownID(&a.CreatedBy), knownID(&a.UpdatedBy), &a.CreatedIP, &a.UpdatedIP, &a.RequestID, &a.Source}
}

func id[T any](field *ident.Of[T]) any { return table.Text(field, ident.Parse[T]) }

// knownID is the id in a column that a program before the column leaves empty.
func knownID[T any](field *ident.Of[T]) any {
	return table.Text(field, func(text string) (known ident.Of[T], err error) {
		if text == "" {
			return known, nil
		}
		return ident.Parse[T](text)
	})
}

func codeOf(text string) (thread.Code, error) { return thread.RecordedCode(text), nil }
