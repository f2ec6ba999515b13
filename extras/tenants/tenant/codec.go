package tenant

import (
	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// Events returns the codec of tenants' events. Every version ever written stays readable and has a golden file in
// testdata.
func Events() *es.Codec[Event] {
	return es.NewCodec(AggregateType, ident.Canonical,
		es.Event[Event]("TenantCreated",
			func(e Created) wireCode { return wireCode{e.Code.String()} },
			func(w wireCode) (e Created, err error) { e.Code, err = ParseCode(w.Code); return e, err }),
		es.Event[Event]("TenantSuspended",
			func(e Suspended) wireCode { return wireCode{e.Code.String()} },
			func(w wireCode) (e Suspended, err error) {
				e.Code, err = ParseCode(w.Code)
				return e, err
			}),
		es.Event[Event]("TenantReactivated",
			func(e Reactivated) wireCode { return wireCode{e.Code.String()} },
			func(w wireCode) (e Reactivated, err error) {
				e.Code, err = ParseCode(w.Code)
				return e, err
			}),
	)
}

// wireCode is the JSON of all events. Its tenant is not the envelope's, which is the tenant with the empty code.
type wireCode struct {
	Code string `json:"code"`
}
