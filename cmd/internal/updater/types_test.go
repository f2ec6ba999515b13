package updater

import (
	"slices"
	"testing"

	"example.com/threads/cmd/internal/aggregates"
	"example.com/threads/cmd/internal/readmodel"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// A type that one list lacks would be served in part.
func TestEveryAggregateTypeIsRegisteredEverywhere(t *testing.T) {
	commands := writeapi.NewCommands(
		nil, nil,
		nil, // extra:tasks
		writeapi.CommandSettings{}, es.Settings{},
	)
	for _, each := range aggregates.Types() {
		if !slices.ContainsFunc(readmodel.Handlers(), func(handler projection.Handler) bool { return handler.Type() == each.Type() }) {
			t.Errorf("the read model has no rows of %s: add its handler to readmodel.Handlers", each.Type())
		}
		if !slices.ContainsFunc(commands.Services, func(service es.AnyService) bool { return service.Type() == each.Type() }) {
			t.Errorf("there are no commands of %s: add its service to writeapi.NewCommands", each.Type())
		}
	}
	if types := len(aggregates.Types()); len(readmodel.Handlers()) != types || len(commands.Services) != types {
		t.Errorf("%d handlers, %d services and %d types: add the others to aggregates.Types", len(readmodel.Handlers()), len(commands.Services), types)
	}
}
