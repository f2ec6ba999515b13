package tenants

import (
	"cmp"
	"embed"
	"errors"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/extras/tenants/tenant"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// Row is the row of a registered tenant. Lists of tenants are in the order of registration.
type Row struct {
	Registry  es.Tenant // the row's own tenant, which has the empty code
	ID        tenant.ID
	Code      tenant.Code
	Suspended bool
	Version   uint64 // the seq_nr of the last event in the row
	CreatedAt time.Time
	UpdatedAt time.Time
	query.Audit
}

// Position returns the tenant's position in the list of tenants; it never changes.
func (t Row) Position() query.Position {
	return query.Position{At: t.CreatedAt.UnixMicro(), ID: t.ID.String()}
}

// Compare orders tenants by position.
func (t Row) Compare(other Row) int {
	return cmp.Or(t.CreatedAt.Compare(other.CreatedAt), t.ID.Compare(other.ID))
}

// Rows is the table of registered tenants. tenant_code is the registry's own, and code the registered one.
var Rows = table.Table[Row]{
	Name: "tenants", Key: 2,
	Columns: append([]string{"tenant_code", "id", "code", "suspended", "version", "created_at", "updated_at"}, chatrows.AuditColumns...),
	ID:      func(r *Row) []string { return []string{r.Registry.String(), r.ID.String()} },
	Fields: func(r *Row) []any {
		return append([]any{
			table.Tenant(&r.Registry), table.Text(&r.ID, ident.Parse[tenant.Tenant]), table.Text(&r.Code, tenant.ParseCode), &r.Suspended, &r.Version,
			table.Time(&r.CreatedAt), table.Time(&r.UpdatedAt),
		}, chatrows.AuditFields(&r.Audit)...)
	},
}

//go:embed migrations/*/*.sql
var migrations embed.FS

// Schema returns the schema of [Rows], for the database of the read model.
func Schema() migration.Set {
	return migration.Set{Name: "registry of tenants", Table: "tenants_migrations", Files: migrations, Folder: "migrations"}
}

// rowsVersion rises with every change that makes other rows of the same events.
const rowsVersion = 2

// Handler returns what keeps [Rows], for the projection of the read model.
func Handler() projection.Handler {
	return projection.OneRow[tenant.Event, Row]{
		Events: tenant.Events(), Version: rowsVersion, Next: next, Rows: rowstore.Rows[Row]{Table: Rows},
	}
}

// next is the row after recorded, the next event of its tenant.
func next(row Row, exists bool, recorded es.Recorded[tenant.Event]) (Row, error) {
	by, err := chat.AuditOf(recorded.Envelope)
	if err != nil {
		return row, err
	}
	created, begins := recorded.Event.(tenant.Created)
	switch {
	case begins && exists:
		return row, errors.New("the tenant exists already")
	case begins:
		id, err := ident.Parse[tenant.Tenant](recorded.AggregateID)
		return Row{
			Registry: recorded.Tenant, ID: id, Code: created.Code, Version: recorded.SeqNr,
			CreatedAt: recorded.OccurredAt, UpdatedAt: recorded.OccurredAt, Audit: by,
		}, err
	case !exists:
		return row, errors.New("the tenant does not exist")
	}
	switch recorded.Event.(type) {
	case tenant.Created: // see above
	case tenant.Suspended:
		row.Suspended = true
	case tenant.Reactivated:
		row.Suspended = false
	}
	row.Version, row.UpdatedAt, row.Audit = recorded.SeqNr, recorded.OccurredAt, chat.ChangedBy(by, row.Audit)
	return row, nil
}
