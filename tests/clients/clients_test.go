package clients

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"example.com/threads/cmd/write-api/commands"
	"example.com/threads/es"
)

func TestGraphQL(t *testing.T) {
	installNode(t)
	s := start(t)
	for _, script := range []string{"graphql-http.js", "graphql-ws.js", "graphql-sse.js", "urql.js"} {
		t.Run(script, func(t *testing.T) { runScript(t, s.env(), nil, "node", script) })
	}
	t.Run("reconnect.js", func(t *testing.T) {
		restart := func(line string) bool {
			switch line {
			case "restart SIGTERM":
				s.read.Stop(t)
			case "restart SIGKILL":
				s.read.Kill(t)
			default:
				return false
			}
			s.read.Start(t)
			return true
		}
		runScript(t, s.env(), restart, "node", "reconnect.js")
	})
}

func TestOpenAPI(t *testing.T) {
	installNode(t)
	s := start(t)
	t.Run("lint.js", func(t *testing.T) { runScript(t, s.env(), nil, "node", "lint.js") })
	t.Run("commands.ts", func(t *testing.T) {
		if err := os.RemoveAll("build"); err != nil {
			t.Fatal(err)
		}
		runScript(t, nil, nil, tool("openapi-typescript"), s.write.URLs[0]+"/openapi.json", "--output", "build/api.d.ts")
		runScript(t, nil, nil, tool("tsc"))
		runScript(t, s.env(), nil, "node", "build/commands.js")
	})
}

// The client in TypeScript must call every command, so that the types of each are tried.
func TestTheClientCallsEveryOperation(t *testing.T) {
	known := commands.New(nil, nil, commands.Settings{}, es.Settings{Logger: slog.New(slog.DiscardHandler), Metrics: es.NewMetrics()})
	client, err := os.ReadFile("commands.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, aggregate := range known.Operations {
		for _, operation := range aggregate.Operations {
			if operation.Served == nil && !strings.Contains(string(client), "api.POST('"+operation.Path+"'") {
				t.Errorf("commands.ts does not call %s", operation.Path)
			}
		}
	}
}

func (s *system) env() []string {
	return []string{fmt.Sprint("WRITE_API_URL=", s.write.URLs[0]), fmt.Sprint("READ_API_URL=", s.read.URLs[0])}
}
