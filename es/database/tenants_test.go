package database_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/database"
)

func TestDatabasesByTenant(t *testing.T) {
	const acme, globex = "reader:hun=ter2@tcp(10.0.0.5:3306)/acme?tls=true", "reader:hunter2@tcp(10.0.0.5:3306)/globex"
	found, err := database.ParseByTenant(" acme=" + acme + "\n globex,initech=" + globex)
	want := database.ByTenant{"acme": {"acme", acme}, "globex": {"globex,initech", globex}, "initech": {"globex,initech", globex}}
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
	if none, err := database.ParseByTenant(""); err != nil || !none.In(acme)("acme") || !none.In("")("") {
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
		"acme=a@tcp(h)/a globex=b:hunter2@tcp(h)/a": "entry 2 has the database of another entry",
	} {
		_, err := database.ParseByTenant(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A program for many databases starts while one is down.
func TestADatabaseThatAnswersLater(t *testing.T) {
	db, err := database.Open(t.Context(), "root@tcp(127.0.0.1:1)/a", database.Settings{Later: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(t.Context(), "SELECT 1")
	if err = database.Explain("read", err); es.KindOf(err) != es.Unavailable {
		t.Errorf("%v", err)
	}
}
