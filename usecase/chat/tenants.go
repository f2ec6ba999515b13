package chat

import (
	"errors"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/tenant"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/usecase/query"
)

// AnswerTenant is the name of a tenant's code in an answer.
const AnswerTenant = "tenant_code"

// TenantAnswer returns the code of the tenant that a command concerned.
func TenantAnswer(events []tenant.Event) map[string]string {
	about := map[string]string{}
	for _, event := range events {
		switch e := event.(type) {
		case tenant.Created:
			about[AnswerTenant] = e.Code.String()
		case tenant.Suspended:
			about[AnswerTenant] = e.Code.String()
		case tenant.Reactivated:
			about[AnswerTenant] = e.Code.String()
		}
	}
	return about
}

// TenantKey returns the key of a registered tenant. The registry itself belongs to the tenant with the empty code.
func TenantKey(code tenant.Code) es.AggregateID {
	return es.AggregateID{Type: tenant.AggregateType, ID: tenant.IDOf(code).String()}
}

// tenantRowsVersion rises with every change that makes other rows of the same events; see threadRowsVersion.
const tenantRowsVersion = 2

// TenantRows is the [projection.Handler] of registered tenants.
func TenantRows(store projection.RowStore[query.Tenant], events *es.Codec[tenant.Event]) projection.Handler {
	return projection.OneRow[tenant.Event, query.Tenant]{
		Events: events, Version: tenantRowsVersion, Next: nextTenant, Rows: store,
	}
}

// nextTenant is the row after recorded, the next event of its tenant.
func nextTenant(row query.Tenant, exists bool, recorded es.Recorded[tenant.Event]) (query.Tenant, error) {
	by, err := AuditOf(recorded.Envelope)
	if err != nil {
		return row, err
	}
	created, begins := recorded.Event.(tenant.Created)
	switch {
	case begins && exists:
		return row, errors.New("the tenant exists already")
	case begins:
		id, err := ident.Parse[tenant.Tenant](recorded.AggregateID)
		return query.Tenant{
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
	row.Version, row.UpdatedAt, row.Audit = recorded.SeqNr, recorded.OccurredAt, ChangedBy(by, row.Audit)
	return row, nil
}
