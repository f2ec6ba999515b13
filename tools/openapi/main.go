// Command openapi prints the OpenAPI document of what the page in extras/page asks: that of the write-api, with the
// routes of the other programs that describe themselves, and the names of the events of each aggregate type.
// tools/dev/page makes the page's types of it.
package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/cmd/write-api/commands"
	"example.com/threads/es"
	"example.com/threads/extras/lab"     // extra:lab
	"example.com/threads/extras/operate" // extra:operate
	"example.com/threads/extras/page"
	"example.com/threads/extras/tasks" // extra:tasks
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/rest"
)

func main() {
	if err := json.NewEncoder(os.Stdout).Encode(document()); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

func document() *huma.OpenAPI {
	huma.DefaultArrayNullable = false // an empty list is [], and never null
	api := commands.New(
		nil,
		nil, // extra:erasure
		commands.Settings{}, es.Settings{Logger: slog.New(slog.DiscardHandler), Metrics: es.NewMetrics()},
	)
	doc := rest.Document(api.Operations, rest.Settings{Source: "write-api"})
	schemas := doc.Components.Schemas
	describe := func(pattern string, body, answer any) {
		method, path, _ := strings.Cut(pattern, " ")
		op := &huma.Operation{Method: method, Path: path, Responses: map[string]*huma.Response{
			"200": {Content: contentOf(schemas.Schema(reflect.TypeOf(answer), true, ""))},
		}}
		if body != nil {
			known := schemas.Schema(reflect.TypeOf(body), false, "")
			parts := &huma.Schema{Type: known.Type, Properties: known.Properties} // each of which may be missing
			op.RequestBody = &huma.RequestBody{Content: contentOf(parts)}
		}
		doc.AddOperation(op)
	}
	page.Describe(describe)
	operate.Describe(describe) // extra:operate
	// extra:lab {
	lab.Describe(describe)
	doc.Paths["/lab/second-writer"] = doc.Paths["/threads/post_message"] // passed on to another write-api
	// extra:lab }
	schemas.Schema(reflect.TypeFor[tasks.RejectedLine](), true, "") // extra:tasks
	events := map[string][]string{}
	for _, aggregate := range eventjson.Types() {
		events[aggregate.Type()] = aggregate.EventNames()
	}
	doc.Extensions = map[string]any{"x-events": events}
	return doc
}

func contentOf(schema *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{rest.MediaJSON: {Schema: schema}}
}
