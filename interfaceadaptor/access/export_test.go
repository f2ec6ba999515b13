package access

// KnownTenants counts the tenants that are remembered.
func KnownTenants(t *Tenants) int { return len(t.known) }
