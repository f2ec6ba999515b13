package es

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/oklog/ulid/v2"
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

var typeName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// Check returns an [InvalidError] unless the id has the form that programs use: a tenant's code, a type of up to 64 of
// a-z, 0-9, _ and - that begins with a letter, and a ULID in upper case. A [Service] refuses other ids, and projections
// leave out what is stored under one.
func (id AggregateID) Check() error {
	if _, err := ParseTenant(id.Tenant.String()); err != nil {
		return err
	}
	if !typeName.MatchString(id.Type) {
		return &InvalidError{Field: "type", Reason: fmt.Sprintf("must be up to 64 of a-z, 0-9, _ and -, and begin with a letter; %q is not", id.Type)}
	}
	if value, err := ulid.ParseStrict(id.ID); err != nil || value.IsZero() || value.String() != id.ID {
		return &InvalidError{Field: "id", Reason: fmt.Sprintf("must be a ULID, such as 01H42K4ABWQ5V2XQEP3A48VE0Z; %q is not", id.ID)}
	}
	return nil
}
