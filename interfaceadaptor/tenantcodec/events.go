// Package tenantcodec encodes registered tenants as JSON: their events ([Events]), as a table for eventcodec, and their
// states ([Snapshots]). Every version ever written stays readable and has a golden file in testdata.
package tenantcodec

import (
	"example.com/threads/domain/ident"
	"example.com/threads/domain/tenant"
	"example.com/threads/es"
)

// Events is the codec of tenants' events.
func Events() *es.Codec[tenant.Event] {
	return es.NewCodec(tenant.AggregateType, ident.Canonical,
		es.Event[tenant.Event]("TenantCreated",
			func(e tenant.Created) wireCode { return wireCode{e.Code.String()} },
			func(w wireCode) (e tenant.Created, err error) { e.Code, err = tenant.ParseCode(w.Code); return e, err }),
		es.Event[tenant.Event]("TenantSuspended",
			func(e tenant.Suspended) wireCode { return wireCode{e.Code.String()} },
			func(w wireCode) (e tenant.Suspended, err error) {
				e.Code, err = tenant.ParseCode(w.Code)
				return e, err
			}),
		es.Event[tenant.Event]("TenantReactivated",
			func(e tenant.Reactivated) wireCode { return wireCode{e.Code.String()} },
			func(w wireCode) (e tenant.Reactivated, err error) {
				e.Code, err = tenant.ParseCode(w.Code)
				return e, err
			}),
	)
}

// wireCode is the JSON of all events. Its tenant is not the envelope's, which is the tenant with the empty code.
type wireCode struct {
	Code string `json:"code"`
}
