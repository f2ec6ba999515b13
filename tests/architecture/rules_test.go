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
		{"domain/thread", "/usecase/command", false},
		{"domain/thread", "/infrastructure/clock", false},

		{"usecase", "/domain/thread", true},
		{"usecase/command", "/usecase", true},
		{"usecase/command", "golang.org/x/sync/singleflight", true},
		{"usecase/command", "/interfaceadaptor/repository", false},
		{"usecase/command", "/infrastructure/clock", false},
		{"usecase/command", "github.com/jmoiron/sqlx", false},

		{"interfaceadaptor/rest", "/usecase/command", true},
		{"interfaceadaptor/rest", "github.com/go-chi/chi/v5", true},
		{"interfaceadaptor/rest", "/interfaceadaptor/graphql", false},
		{"interfaceadaptor/rest", "/infrastructure/httpserver", false},
		{"interfaceadaptor/graphql", "/interfaceadaptor/graphql/generated", true},
		{"interfaceadaptor/repository", "/interfaceadaptor/eventcodec", true},
		{"interfaceadaptor/repository", "/interfaceadaptor/gateway/dynamodb", false},
		{"interfaceadaptor/gateway/dynamodb", "/interfaceadaptor/eventstore", true},
		{"interfaceadaptor/gateway/dynamodb", "/interfaceadaptor/gateway/sqlstore", false},
		{"interfaceadaptor/gateway/sqlstore", "/interfaceadaptor/gateway/internal/packing", true},
		{"interfaceadaptor/gateway/internal/packing", "/interfaceadaptor/repository", false},
		{"interfaceadaptor/gateway/gatewaytest", "/interfaceadaptor/eventstore", true},
		{"interfaceadaptor/threadcodec", "/interfaceadaptor/eventcodec", true},
		{"interfaceadaptor/threadcodec", "/interfaceadaptor/repository", false},
		{"interfaceadaptor/ordercodec", "/domain/order", true},
		{"interfaceadaptor/chatstore", "/interfaceadaptor/ordercodec", true},
		{"interfaceadaptor/eventcodec", "/domain/order", false},
		{"interfaceadaptor/stream", "/interfaceadaptor/eventstore", true},
		{"interfaceadaptor/stream", "/interfaceadaptor/eventcodec", false},
		{"interfaceadaptor/stream", "/tests/testenv", false},
		{"interfaceadaptor/carrierpigeon", "errors", false},

		{"infrastructure/httpserver", "/infrastructure/logging", true},
		{"infrastructure/httpserver", "github.com/jmoiron/sqlx", true},
		{"infrastructure/httpserver", "/domain/thread", false},
		{"infrastructure/httpserver", "/usecase", false},
		{"infrastructure/httpserver", "/interfaceadaptor/rest", false},

		{"cmd/write-api", "/interfaceadaptor/rest", true},
		{"cmd/write-api", "/infrastructure/httpserver", true},
		{"tests/e2e", "/cmd/write-api", false},
		{"rdb-migration", "/infrastructure/database", false},
		{"rdb-migration/cmd/migrate", "/infrastructure/database", true},
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
