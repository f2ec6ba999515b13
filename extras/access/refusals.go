package access

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/interfaceadaptor/admission"
)

// tooManyOf is the refusal of a request beyond the rate of an address, an account or a tenant.
func tooManyOf(of string) *admission.Refusal {
	return tooMany("this " + of + " sends more requests a second than it may; send fewer, and try again later")
}

var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]+$`)

// bearer returns the token of the header Authorization.
func bearer(authorization string) (string, error) {
	const detail = "send a token, as Authorization: Bearer <token>"
	if authorization == "" {
		return "", refusal(http.StatusUnauthorized, "unauthenticated", detail, authenticate, realm)
	}
	scheme, token, _ := strings.Cut(authorization, " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || !tokenPattern.MatchString(token) {
		return "", Unauthenticated(detail)
	}
	return token, nil
}

// The headers that tell a refused client what to do: WWW-Authenticate of RFC 6750, and Retry-After.
const (
	authenticate = "Www-Authenticate" // in canonical form
	realm        = `Bearer realm="threads"`
	bearerScheme = "token" // in the OpenAPI document
)

func refusal(status int, code, detail, header, value string) *admission.Refusal {
	return &admission.Refusal{Status: status, Code: code, Detail: detail, Header: http.Header{header: {value}}}
}

// Unauthenticated returns the refusal of an invalid token.
func Unauthenticated(detail string) *admission.Refusal {
	return refusal(http.StatusUnauthorized, "unauthenticated", detail,
		authenticate, fmt.Sprintf(realm+`, error="invalid_token", error_description="%s"`, detail))
}

// missingScope is the refusal of a token without the scope of a right.
func missingScope(right admission.Right) *admission.Refusal {
	return refusal(http.StatusForbidden, "forbidden", "the token needs the scope "+scopeOf(right),
		authenticate, fmt.Sprintf(realm+`, error="insufficient_scope", scope="%s"`, scopeOf(right)))
}

var errUnavailable = refusal(http.StatusServiceUnavailable, "issuer_unavailable",
	"the token can't be verified now, because its issuer does not answer; try again later", "Retry-After", "1")

func tooMany(detail string) *admission.Refusal {
	return refusal(http.StatusTooManyRequests, "too_many_requests", detail, "Retry-After", "1")
}

// Describe adds to the OpenAPI document of a program who is admitted, and how others are refused: refused adds an error
// to the answers of an operation. Operations have the rights that they need in their metadata.
func (a *Access) Describe(doc *huma.OpenAPI, refused func(*huma.OpenAPI, *huma.Operation, error)) {
	if a.IsOpen() {
		doc.Info.Description = "**" + OpenWarning + "** " + doc.Info.Description
	} else {
		doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{bearerScheme: {
			Type: "http", Scheme: "bearer", BearerFormat: "JWT",
			Description: "An access token of the issuer that the server trusts. It says which account acts, in which tenant, and with which scopes.",
		}}
		for _, schema := range doc.Components.Schemas.Map() {
			if executor, has := schema.Properties["executor_id"]; has {
				schema.Required = slices.DeleteFunc(schema.Required, func(name string) bool { return name == "executor_id" })
				executor.Description = "The user account that acts. Left out, it is the token's; another one needs the scope act_as."
			}
		}
	}
	for _, path := range doc.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post} {
			if op != nil && op.Metadata[admission.Rights] != nil {
				for _, refusal := range a.describe(op, op.Metadata[admission.Rights].([]admission.Right)) {
					refused(doc, op, refusal)
				}
			}
		}
	}
}

// describe says which token an operation needs, and returns how a caller is refused.
func (a *Access) describe(op *huma.Operation, rights []admission.Right) []*admission.Refusal {
	refusals := []*admission.Refusal{tooManyOf("address")}
	if !a.IsOpen() {
		op.Security = []map[string][]string{{bearerScheme: {}}}
		op.Description += " The token needs the scope `" + scopeOf(rights[0]) + "`"
		for _, right := range rights[1:] {
			op.Description += " or `" + scopeOf(right) + "`"
		}
		op.Description += "."
		refusals = append(refusals, errTokenExpired, missingScope(rights[0]), errUnavailable)
	}
	return refusals
}

// Schema changes the schema of the GraphQL API: with tokens, the viewer's argument is optional.
func (a *Access) Schema(schema *ast.Schema) *ast.Schema {
	if a.IsOpen() {
		return schema
	}
	for _, field := range slices.Concat(schema.Query.Fields, schema.Subscription.Fields) {
		if viewer := field.Arguments.ForName("userAccountId"); viewer != nil && viewer.Type.NonNull {
			viewer.Type = ast.NamedType(viewer.Type.NamedType, viewer.Type.Position)
			viewer.Description += " Left out, it is the token's account."
		}
	}
	return schema
}
