package tenants

import (
	"net/http"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
)

// OnTenant is who acts, and on which tenant.
type OnTenant struct {
	rest.By
	Code Code `json:"tenant_code" doc:"The tenant's code: 1 to 32 characters out of a-z, 0-9 and -." pattern:"^[a-z0-9-]{1,32}$" example:"acme"`
}

func (o OnTenant) request(c Command) es.Request[Command] {
	return es.Request[Command]{ID: Key(o.Code).ID, Command: c, Name: CommandName(c)}
}

// TenantAnswer is the answer to a command on a tenant.
type TenantAnswer struct {
	TenantCode string `json:"tenant_code" doc:"The tenant's code." example:"acme"`
	Version    uint64 `json:"version" doc:"The tenant's version after the command: 1, 2, 3 and so on." minimum:"1" example:"2"`
}

func tenantAnswerOf(r es.Result) TenantAnswer { return TenantAnswer{r.About[answerCode], r.Version} }

// Operations returns the registry of tenants. Its operations are for those who run the service, and of no tenant.
func Operations(tenants chat.Service[Command]) rest.Aggregate {
	table := []rest.Operation{
		{
			Path: "/tenants/create", Status: http.StatusCreated, Summary: "Register a tenant",
			Description: "Registers a tenant, which is active from then on. With `TENANTS=registered`, requests of other tenants are refused.",
			Do:          rest.Command(tenants, tenantAnswerOf, func(b OnTenant) es.Request[Command] { return b.request(Create{Code: b.Code}) }),
			Rejections:  []error{ErrTenantExists},
			Without:     []string{rest.IfMatch},
		},
		{
			Path: "/tenants/suspend", Summary: "Suspend a tenant",
			Description: "With `TENANTS=registered`, the tenant's requests are refused within seconds and its subscriptions end. Its data stays.",
			Do:          rest.Command(tenants, tenantAnswerOf, func(b OnTenant) es.Request[Command] { return b.request(Suspend{}) }),
			Rejections:  []error{ErrTenantNotFound, ErrTenantSuspended},
		},
		{
			Path: "/tenants/reactivate", Summary: "Reactivate a tenant",
			Description: "Ends the suspension of a tenant: its requests are answered again within seconds.",
			Do:          rest.Command(tenants, tenantAnswerOf, func(b OnTenant) es.Request[Command] { return b.request(Reactivate{}) }),
			Rejections:  []error{ErrTenantNotFound, ErrTenantActive},
		},
	}
	for i := range table {
		table[i].Right, table[i].Global = admission.Operate, true
	}
	return rest.Aggregate{Name: "tenants", About: "Commands of operators on the registry of tenants.", Operations: table}
}
