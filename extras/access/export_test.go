package access

// KnownTenants counts the cached tenants.
func KnownTenants(t *Tenants) int { return t.known.Len() }
