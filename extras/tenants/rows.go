package tenants

import (
	"context"
	"embed"
	"errors"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/usecase/query"
)

// Row is the row of a registered tenant. Lists of tenants are in the order of registration.
type Row struct {
	Registry  es.Tenant `db:"tenant_code"` // the row's own tenant, which has the empty code
	ID        ID        `db:"id"`
	Code      string    `db:"code"`
	Suspended bool      `db:"suspended"`
	Version   uint64    `db:"version"` // the seq_nr of the last event in the row
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
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

const (
	rowsVersion                 = 2 // rises with every change that makes other rows of the same events
	cursors     graphql.Cursors = "tenants"
)

// Handler returns what keeps [Rows], for the projection of the read model.
func Handler() projection.Handler { return rowstore.OneRow(Rows, Events(), rowsVersion, next) }

// next is the row after recorded, the next event of its tenant.
func next(row Row, exists bool, recorded es.Recorded[Event]) (Row, error) {
	by, err := query.AuditOf(recorded.Envelope)
	if err != nil {
		return row, err
	}
	switch created, begins := recorded.Event.(Created); {
	case begins && exists:
		return row, errors.New("the tenant exists already")
	case begins:
		row = Row{Registry: recorded.Tenant, ID: IDOf(created.Code), Code: string(created.Code), CreatedAt: recorded.OccurredAt, Audit: by}
	case !exists:
		return row, errors.New("the tenant does not exist")
	}
	row.Suspended = Tenant{}.Apply(recorded.Event).Suspended
	row.Version, row.UpdatedAt, row.Audit = recorded.SeqNr, recorded.OccurredAt, query.ChangedBy(by, row.Audit)
	return row, nil
}

// TenantResolver reads registered tenants, and resolves Query.tenants. It is safe for concurrent use.
type TenantResolver struct{ ReadModel *queryreader.Reader }

// shown are the columns that an API shows.
var shown = Rows.Without("created_ip", "updated_ip", "request_id", "source")

var list = queryreader.List{
	Columns: shown.List("r"), From: `FROM tenants r WHERE r.tenant_code = ?`, At: "r.created_at", ID: "r.id",
}

// Tenant returns a tenant, or [ErrTenantNotFound].
func (r TenantResolver) Tenant(ctx context.Context, code Code) (Row, error) {
	return queryreader.One(ctx, r.ReadModel, shown, ErrTenantNotFound,
		`SELECT `+shown.List("r")+` FROM tenants r WHERE r.tenant_code = ? AND r.id = ?`, "", IDOf(code).String())
}

// IsActive is [IsActive] of the rows, which may be behind.
func (r TenantResolver) IsActive(ctx context.Context, named es.Tenant) (bool, error) {
	row, err := r.Tenant(ctx, Code(named))
	if errors.Is(err, ErrTenantNotFound) {
		return false, nil
	}
	return err == nil && !row.Suspended, err
}

// The schema's connection of tenants and its edges.
type (
	TenantConnection = graphql.Connection[Row]
	TenantEdge       = graphql.Edge[Row]
)

// Tenants resolves the field of Query in tenants.graphqls: a page of all tenants, including suspended ones.
func (r TenantResolver) Tenants(ctx context.Context, first *int, after *string, last *int, before *string) (TenantConnection, error) {
	if err := graphql.OnlyOperators(ctx); err != nil {
		return TenantConnection{}, err
	}
	asked, err := graphql.EitherWay(cursors, first, after, last, before)
	if err != nil {
		return TenantConnection{}, err
	}
	page, err := queryreader.Page(ctx, r.ReadModel, shown, list, asked, "")
	return graphql.NewConnection(cursors, page, func(row Row) Row { return row }), err
}
