package projections

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/write-api/commands"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/usecase/query"
)

// A type that one list lacks would be served in part.
func TestEveryAggregateTypeIsRegisteredEverywhere(t *testing.T) {
	handling := commands.New(
		nil,
		nil, // extra:erasure
		commands.Settings{}, es.Settings{},
	)
	for _, each := range system.Types() {
		if !slices.ContainsFunc(system.ReadModel().Handlers, func(handler projection.Handler) bool { return handler.Type() == each.Type() }) {
			t.Errorf("the read model has no rows of %s: add its handler in interfaceadaptor/readmodel/chatrows/chatrows.go", each.Type())
		}
		if !slices.ContainsFunc(handling.Services, func(service commands.Service) bool { return service.Type() == each.Type() }) {
			t.Errorf("there are no commands of %s: add its service in cmd/write-api/commands/commands.go", each.Type())
		}
	}
	if types := len(system.Types()); len(system.ReadModel().Handlers) != types || len(handling.Services) != types {
		t.Errorf("%d handlers, %d services and %d types: add the others in interfaceadaptor/eventjson/eventjson.go", len(system.ReadModel().Handlers), len(handling.Services), types)
	}
	queries := query.New(nil, nil, query.Settings{})
	for _, each := range eventjson.Types() {
		if _, err := queries.ParseTokens(each.Type() + "-01H42KBHCW1BZG504J4ZXKA2F2:1"); err != nil {
			t.Errorf("queries do not know tokens of %s: add it to the types in usecase/query/queries.go: %v", each.Type(), err)
		}
	}
	// extra:page {
	page, err := os.ReadFile("../../../extras/page/app.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range eventjson.Types() {
		// It is declared by itself, or as a type with one row.
		if !regexp.MustCompile(`(type:|\()"` + each.Type() + `"`).Match(page) {
			t.Errorf("the page does not show %s: add its aggregates in extras/page/src/main.tsx, and run make generate", each.Type())
		}
	}
	// extra:page }
}
