package architecture_test

import (
	"strings"
	"testing"

	"example.com/threads/tests/architecture"
)

// TestRules checks the rules with single imports of a made-up module, so that it is known that they detect violations.
func TestRules(t *testing.T) {
	for _, test := range []struct {
		pkg, imports string
		allowed      bool
	}{
		{"domain/thread", "errors", true},
		{"domain/thread", "github.com/oklog/ulid/v2", true},
		{"domain/thread", "github.com/aws/aws-sdk-go-v2/aws", false},
		{"domain/thread", "/usecase/chat", false},
		{"domain/thread", "/es", false},
		{"domain/thread", "/infrastructure/clock", false},

		{"usecase/chat", "/domain/thread", true},
		{"usecase/chat", "/es", true},
		{"usecase/chat", "/interfaceadaptor/rest", false},

		{"interfaceadaptor/rest", "/es", true},
		{"interfaceadaptor/rest", "github.com/go-chi/chi/v5", true},
		{"interfaceadaptor/rest", "/interfaceadaptor/graphql", false},
		{"interfaceadaptor/rest", "/infrastructure/httpserver", false},
		{"interfaceadaptor/graphql", "/interfaceadaptor/graphql/generated", false},
		{"interfaceadaptor/eventjson", "/es", true},
		{"interfaceadaptor/eventjson", "/interfaceadaptor/readmodel/chatrows", false},
		{"interfaceadaptor/readmodel/chatrows", "/interfaceadaptor/eventjson", true},
		{"es", "/domain/order", false},
		{"es/rowstore", "/usecase/chat", false},
		{"es/rowstore", "/es/projection", true},
		{"interfaceadaptor/carrierpigeon", "errors", false},

		{"infrastructure/httpserver", "/infrastructure/logging", true},
		{"infrastructure/httpserver", "github.com/jmoiron/sqlx", true},
		{"infrastructure/httpserver", "/domain/thread", false},
		{"infrastructure/httpserver", "/usecase", false},
		{"infrastructure/httpserver", "/interfaceadaptor/rest", false},

		{"domain/thread", "/extras/access", false},
		{"interfaceadaptor/readmodel", "/extras/access", false},
		{"infrastructure/httpserver", "/extras/access", false},
		{"cmd/write-api", "/extras/access", true},
		{"cmd/write-api", "/cmd/internal/system", true},
		{"extras/lab", "/extras/page", false},
		{"extras/page", "/extras/access", true}, // extra:page

		{"cmd/write-api", "/interfaceadaptor/rest", true},
		{"cmd/write-api", "/infrastructure/httpserver", true},
		{"tests/e2e", "/cmd/write-api", false},
		{"rdb-migration", "/infrastructure/config", false},
		{"rdb-migration/cmd/migrate", "/infrastructure/config", true},
		{"scripts", "errors", false},
	} {
		t.Run(test.pkg+" imports "+test.imports, func(t *testing.T) {
			imported := test.imports
			if strings.HasPrefix(imported, "/") {
				imported = architecture.Module + imported
			}
			found := architecture.Violations(architecture.Graph{architecture.Module + "/" + test.pkg: {imported}})
			if test.allowed {
				if len(found) > 0 {
					t.Errorf("not allowed: %q", found)
				}
				return
			}
			if len(found) != 1 || !strings.Contains(found[0], test.pkg) {
				t.Fatalf("want one violation that names the package, got %q", found)
			}
			if !strings.Contains(found[0], imported) && !strings.Contains(found[0], "belongs to no layer") {
				t.Errorf("the import is not named in %q", found[0])
			}
		})
	}
}
