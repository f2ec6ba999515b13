package tenants

import (
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
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// Row is the row of a registered tenant. Lists of tenants are in the order of registration.
type Row struct {
	Registry  es.Tenant   `db:"tenant_code"` // the row's own tenant, which has the empty code
	ID        tenant.ID   `db:"id"`
	Code      tenant.Code `db:"code"`
	Suspended bool        `db:"suspended"`
	Version   uint64      `db:"version"` // the seq_nr of the last event in the row
	CreatedAt time.Time   `db:"created_at"`
	UpdatedAt time.Time   `db:"updated_at"`
	query.Audit
}

// Position returns the tenant's position in the list of tenants; it never changes.
func (t Row) Position() query.Position {
	return query.Position{At: t.CreatedAt.UnixMicro(), ID: t.ID.String()}
}

// Rows is the table of registered tenants. tenant_code is the registry's own, and code the registered one.
var Rows = table.Of[Row]("tenants", 2)

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
	return rowstore.OneRow(Rows, tenant.Events(), rowsVersion, next)
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
