package tenants

import (
	"fmt"
	"strings"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/infrastructure/config"
)

// Database is the database of the tenants with these codes.
type Database struct{ Codes, URL string }

// Databases has the databases of some tenants. All other tenants are in the main database.
type Databases map[es.Tenant]Database

func ReadDatabases(r *config.Reader) Databases {
	const help = "with the same value in all programs: tenants whose rows are not in the database of all others, such as acme=URL globex,initech=URL"
	return config.Parsed(r.Group("Tenants (extras/tenants)"), "TENANT_DATABASES", "", help, ParseDatabases)
}

// ParseDatabases parses entries such as acme,globex=URL, separated by spaces. Its errors contain no URL.
func ParseDatabases(text string) (Databases, error) {
	all := Databases{}
	for i, entry := range strings.Fields(text) {
		codes, url, _ := strings.Cut(entry, "=")
		if _, err := database.DriverOf(url); err != nil || !all.In(url)("") {
			return nil, fmt.Errorf("entry %d is not of the form tenant=URL or tenant,tenant=URL with the URL of a database that no other entry has", i+1)
		}
		for code := range strings.SplitSeq(codes, ",") {
			switch tenant, err := es.ParseTenant(code); {
			case err != nil || tenant == "": // not shown, because it may be a part of a password
				return nil, fmt.Errorf("entry %d has a tenant that is not 1 to 32 characters out of a-z, 0-9 and -", i+1)
			case all[tenant].URL != "":
				return nil, fmt.Errorf("entry %d has the tenant %s again", i+1, tenant)
			default:
				all[tenant] = Database{codes, url}
			}
		}
	}
	return all, nil
}

// In returns which tenants are in the database of a URL. It is the main one if it is none of these.
func (t Databases) In(url string) func(es.Tenant) bool {
	own := Database{}
	for _, other := range t {
		if place(other.URL) == place(url) {
			own = other
		}
	}
	return func(tenant es.Tenant) bool { return t[tenant] == own }
}

// place is where the database of a URL is, without user, password and parameters.
func place(url string) string {
	at, _, _ := strings.Cut(url[strings.LastIndexByte(url, '@')+1:], "?")
	return at
}
