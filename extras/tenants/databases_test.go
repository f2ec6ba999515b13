package tenants_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/threads/es"
	"example.com/threads/extras/tenants"
)

func TestDatabasesByTenant(t *testing.T) {
	const acme, globex = "reader:hun=ter2@tcp(10.0.0.5:3306)/acme?tls=true", "reader:hunter2@tcp(10.0.0.5:3306)/globex"
	found, err := tenants.ParseDatabases(" acme=" + acme + "\n globex,initech=" + globex)
	want := tenants.Databases{"acme": {"acme", acme}, "globex": {"globex,initech", globex}, "initech": {"globex,initech", globex}}
	if err != nil || !maps.Equal(found, want) {
		t.Errorf("%v, %v", found, err)
	}
	for url, want := range map[string][]es.Tenant{
		"writer:other@tcp(10.0.0.5:3306)/acme": {"acme"}, globex: {"globex", "initech"}, "writer@tcp(10.0.0.5:3306)/main": {"", "hooli"},
	} {
		isIn := found.In(url)
		var in []es.Tenant
		for _, tenant := range []es.Tenant{"", "acme", "globex", "hooli", "initech"} {
			if isIn(tenant) {
				in = append(in, tenant)
			}
		}
		if !slices.Equal(in, want) {
			t.Errorf("%s has %q, want %q", url, in, want)
		}
	}
	for _, same := range [][2]string{ // another text, the same database
		{"a:b@tcp(db2:3306)/acme", "c@tcp(db2)/acme?tls=true"}, {"a@tcp(127.0.0.1:3306)/acme", "a@/acme"},
		{"sqlite:acme.db", "sqlite:./acme.db?mode=ro"}, {"sqlite:acme.db", "file:acme.db"},
	} {
		found, err := tenants.ParseDatabases("acme=" + same[0])
		if err != nil || !found.In(same[1])("acme") || found.In(same[1])("") {
			t.Errorf("%q is taken for another one than %q, %v", same[1], same[0], err)
		}
	}
	if none, err := tenants.ParseDatabases(""); err != nil || !none.In(acme)("acme") || !none.In("")("") {
		t.Errorf("without databases of tenants: %v, %v", none, err)
	}
}

func TestWrongDatabasesByTenant(t *testing.T) {
	for text, want := range map[string]string{
		"acme":                                      "entry 1 is not of the form",
		"acme=sqlite:a.db;globex":                   "",
		"acme=sqlite:a.db globex=":                  "entry 2 is not of the form",
		"acme=hunter2@tcp(localhost)/":              "entry 1 is not of the form",
		"root:hunter2@tcp(localhost)/a?tls=true":    "entry 1 is not of the form",
		"root:hunter2=@tcp(localhost)/a":            "entry 1 has a tenant that is not",
		"=sqlite:a.db":                              "entry 1 has a tenant that is not",
		"acme,=sqlite:a.db":                         "entry 1 has a tenant that is not",
		"Acme=sqlite:a.db":                          "entry 1 has a tenant that is not",
		"acme=sqlite:a.db globex,acme=sqlite:b.db":  "entry 2 has the tenant acme again",
		"acme,acme=sqlite:a.db":                     "entry 1 has the tenant acme again",
		"acme=a@tcp(h)/a globex=b:hunter2@tcp(h)/a": "entry 2 is not of the form",
	} {
		_, err := tenants.ParseDatabases(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
