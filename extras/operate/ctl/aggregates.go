package ctl

import (
	"strings"

	"example.com/threads/es"
)

// one is the aggregate that a command is about.
type one struct {
	AID *string `arg:"" name:"AID" help:"the aggregate, such as thread-01H42K4ABWQ5V2XQEP3A48VE0Z"`
	aggregates
}

// Validate checks the argument and the flag.
func (o *one) Validate() error { return o.read(o.AID) }

// some is the aggregate that a command is about, or all of them.
type some struct {
	AID *string `arg:"" optional:"" name:"AID" help:"the aggregate, such as thread-01H42K4ABWQ5V2XQEP3A48VE0Z; all without it"`
	aggregates
}

// Validate checks the argument and the flag.
func (s *some) Validate() error { return s.read(s.AID) }

// aggregates are those that a call selects.
type aggregates struct {
	Tenant *string        `help:"code of the tenant; empty is the tenant without a code"`
	id     es.AggregateID // zero: no aggregate is named
}

func (a *aggregates) read(aid *string) (err error) {
	if aid == nil {
		return nil
	}
	var tenant es.Tenant
	if a.Tenant != nil {
		if tenant, err = es.ParseTenant(*a.Tenant); err != nil {
			return err
		}
	}
	a.id, err = es.ParseAggregateID(tenant, *aid)
	a.id.ID = strings.ToUpper(a.id.ID)
	return err
}

// have reports whether an aggregate is selected.
func (a *aggregates) have(id es.AggregateID) bool {
	if a.id != (es.AggregateID{}) {
		return id == a.id
	}
	return a.Tenant == nil || id.Tenant.String() == *a.Tenant
}

// commandLine returns a command about an aggregate, quoted, with more flags.
func commandLine(words string, id es.AggregateID, more ...string) string {
	line := words + " " + id.String()
	if id.Tenant != "" {
		line += " --tenant " + id.Tenant.String()
	}
	return "`" + strings.Join(append([]string{line}, more...), " ") + "`"
}
