package es

import (
	"fmt"
	"strings"
)

// AggregateID identifies an aggregate by tenant, type (such as "order") and the text of its ULID. The tenant is part of
// it: the same ULID under another tenant is another aggregate, and the aggregates of another tenant do not exist for a
// caller.
type AggregateID struct {
	Tenant   Tenant
	Type, ID string
}

// String returns the id without its tenant, as event stores write it.
func (id AggregateID) String() string { return id.Type + "-" + id.ID }

// ParseAggregateID parses the text of [AggregateID.String].
func ParseAggregateID(tenant Tenant, text string) (AggregateID, error) {
	dash := strings.LastIndexByte(text, '-')
	if dash <= 0 || dash == len(text)-1 {
		return AggregateID{}, fmt.Errorf("%q is no id of an aggregate; expected its type and ULID, such as <type>-01H42K4ABWQ5V2XQEP3A48VE0Z", text)
	}
	return AggregateID{Tenant: tenant, Type: text[:dash], ID: text[dash+1:]}, nil
}
