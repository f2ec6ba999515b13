// extra:tenants

package main

import (
	"strings"
	"testing"

	"example.com/threads/infrastructure/config"
)

// Rows of tenants without a database of their own are in none of these databases.
func TestTheMainDatabaseIsNoTenants(t *testing.T) {
	for databases, want := range map[string]string{
		"acme=sqlite:acme.db": "", "acme=sqlite:x.db": "DATABASE_URL is in TENANT_DATABASES", "acme=sqlite:a.db globex=sqlite:a.db": "entry 2",
	} {
		_, err := config.Read(func(name string) string {
			return map[string]string{"DATABASE_URL": "sqlite:x.db", "TENANT_DATABASES": databases}[name]
		}, readSettings)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", databases, err)
		}
	}
}
