package tenant

import (
	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// Events returns the codec of tenants' events. Every version ever written stays readable and has a golden file in
// testdata.
func Events() *es.Codec[Event] {
	return es.NewCodec(AggregateType, ident.Canonical, event[Created]("TenantCreated"), event[Suspended]("TenantSuspended"), event[Reactivated]("TenantReactivated"))
}

// event is the codec of a type of events. Their JSON has the code; the tenant in the envelope has the empty code.
func event[T interface {
	Event
	~struct{ Code Code }
}](name string) es.EventType[Event] {
	type wire struct {
		Code string `json:"code"`
	}
	return es.Event[Event](name,
		func(e T) wire { return wire{string(struct{ Code Code }(e).Code)} },
		func(w wire) (T, error) {
			code, err := ParseCode(w.Code)
			return T{Code: code}, err
		})
}
