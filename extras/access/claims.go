package access

import "strings"

// textClaim returns a string claim; empty without the claim.
func textClaim(claims map[string]any, name string) (string, error) {
	value, given := claims[name]
	if !given {
		return "", nil
	}
	text, ok := value.(string)
	if !ok {
		return "", invalid("the token's claim %s must be a string", name)
	}
	return text, nil
}

// scopesOf returns the scopes: the claim scope of RFC 9068, separated by spaces, or scp of some issuers, as a string or
// a list.
func scopesOf(claims map[string]any) []string {
	for _, name := range []string{"scope", "scp"} {
		switch value := claims[name].(type) {
		case string:
			return strings.Fields(value)
		case []any:
			var scopes []string
			for _, entry := range value {
				if scope, ok := entry.(string); ok {
					scopes = append(scopes, scope)
				}
			}
			return scopes
		}
	}
	return nil
}
