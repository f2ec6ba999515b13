package projections

import (
	"slices"
	"testing"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/cmd/write-api/commands"
	"example.com/threads/es"
	"example.com/threads/es/projection"
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
			t.Errorf("the read model has no rows of %s: add its handler to system.ReadModel", each.Type())
		}
		if !slices.ContainsFunc(handling.Services, func(service commands.Service) bool { return service.Type() == each.Type() }) {
			t.Errorf("there are no commands of %s: add its service to commands.New", each.Type())
		}
	}
	if types := len(system.Types()); len(system.ReadModel().Handlers) != types || len(handling.Services) != types {
		t.Errorf("%d handlers, %d services and %d types: add the others to system.Types", len(system.ReadModel().Handlers), len(handling.Services), types)
	}
}
