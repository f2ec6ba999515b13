package chatrows

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/usecase/query"
)

// Tasks has a row for each task.
var Tasks = table.Table[query.Task]{
	Name: "tasks", Key: 2,
	Columns: append([]string{
		"tenant_code", "id", "kind", "status", "done", "total", "rejected", "message", "version", "created_at", "updated_at",
	}, auditColumns...),
	ID: func(r *query.Task) []string { return []string{r.Tenant.String(), r.ID.String()} },
	Fields: func(r *query.Task) []any {
		return append([]any{
			table.Tenant(&r.Tenant), id(&r.ID), (*string)(&r.Kind), (*string)(&r.Status), &r.Done, &r.Total, &r.Rejected, &r.Message,
			&r.Version, table.Time(&r.CreatedAt), table.Time(&r.UpdatedAt),
		}, auditFields(&r.Audit)...)
	},
}

// UnfinishedTasks returns the keys of tasks of these kinds that are not finished, as far as the read model knows: at
// most limit of them, the oldest first, without those of some tenants.
func UnfinishedTasks(ctx context.Context, db *sqlx.DB, kinds []task.Kind, without []es.Tenant, limit int) ([]es.AggregateID, error) {
	args := []any{string(task.Queued), string(task.Running)}
	for _, kind := range kinds {
		args = append(args, string(kind))
	}
	others := ""
	if len(without) > 0 {
		others = " AND t.tenant_code NOT IN (" + database.Marks(len(without)) + ")"
		for _, tenant := range without {
			args = append(args, tenant.String())
		}
	}
	var keys []es.AggregateID
	err := Tasks.Query(ctx, db, func(row query.Task) {
		keys = append(keys, es.AggregateID{Tenant: row.Tenant, Type: task.AggregateType, ID: row.ID.String()})
	}, "SELECT "+Tasks.List("t")+" FROM tasks t WHERE t.status IN (?, ?) AND t.kind IN ("+database.Marks(len(kinds))+")"+others+" ORDER BY t.created_at, t.id LIMIT ?",
		append(args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("look for tasks to do: %w", err)
	}
	return keys, nil
}
