package tenants

import (
	"context"
	"errors"

	"example.com/threads/es"
	"example.com/threads/extras/tenants/tenant"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/usecase/query"
)

// Reader reads registered tenants. It is safe for concurrent use.
type Reader struct{ readModel *queryreader.Reader }

// NewReader returns the reader of tenants in a read model.
func NewReader(readModel *queryreader.Reader) Reader { return Reader{readModel} }

// shown are the columns that an API shows.
var shown = Rows.Without("created_ip", "updated_ip", "request_id", "source")

var list = queryreader.List{
	Columns: shown.List("r"), From: `FROM tenants r WHERE r.tenant_code = ?`, At: "r.created_at", ID: "r.id",
}

// Tenants reads a page of all tenants, including suspended ones. The caller checks that an operator asks.
func (r Reader) Tenants(ctx context.Context, page query.Range) (query.Page[Row], error) {
	return queryreader.Page(ctx, r.readModel, shown, list, page, "")
}

// Tenant returns a tenant, or [tenant.ErrTenantNotFound].
func (r Reader) Tenant(ctx context.Context, code tenant.Code) (Row, error) {
	return queryreader.One(ctx, r.readModel, shown, tenant.ErrTenantNotFound,
		`SELECT `+shown.List("r")+` FROM tenants r WHERE r.tenant_code = ? AND r.id = ?`, "", tenant.IDOf(code).String())
}

// IsActive is [IsActive] of the rows, which may be behind.
func (r Reader) IsActive(ctx context.Context, named es.Tenant) (bool, error) {
	code, err := tenant.ParseCode(named.String())
	if err != nil {
		return false, err
	}
	row, err := r.Tenant(ctx, code)
	if errors.Is(err, tenant.ErrTenantNotFound) {
		return false, nil
	}
	return err == nil && !row.Suspended, err
}
