package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// file is a file to write.
type file struct {
	path, content string
	isNew         bool // the file must not exist
}

func (f file) write(root string) error {
	path := filepath.Join(root, f.path)
	if _, err := os.Stat(path); err == nil && f.isNew {
		return fmt.Errorf("%s exists already: nothing is overwritten", f.path)
	}
	content := []byte(f.content)
	if strings.HasSuffix(path, ".go") {
		if f.isNew {
			content = []byte(wrapped(f.content))
		}
		var err error
		if content, err = format.Source(content); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

const maxColumns = 120

// wrapped moves the words of comments that a long name has pushed beyond the last column to the next line.
func wrapped(text string) string {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		indent, prose, is := strings.Cut(lines[i], "// ")
		room := maxColumns - 4*len(indent) - len("// ")
		if !is || strings.Trim(indent, "\t") != "" || len(prose) <= room {
			continue
		}
		at := strings.LastIndex(prose[:room+1], " ")
		if at < 0 {
			continue
		}
		lines[i] = indent + "// " + prose[:at]
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], indent+"// ") {
			lines[i+1] = indent + "// " + prose[at+1:] + " " + strings.TrimPrefix(lines[i+1], indent+"// ")
		} else {
			lines = slices.Insert(lines, i+1, indent+"// "+prose[at+1:])
		}
	}
	return strings.Join(lines, "\n")
}

// nextMigration returns the number of the folder's next migration.
func nextMigration(folder string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil || len(paths) == 0 {
		return "00001", err
	}
	last := 0
	if _, err := fmt.Sscanf(filepath.Base(slices.Max(paths)), "%d_", &last); err != nil {
		return "", fmt.Errorf("the number of %s: %w", slices.Max(paths), err)
	}
	return fmt.Sprintf("%05d", last+1), nil
}

// registry is a file in which every aggregate is registered. New lines are inserted after one that contains behind.
type registry struct {
	path  string
	lines []line
}

type line struct{ behind, add string }

// imports is behind, for a path to import.
const imports = "import"

var lists = []registry{
	{"interfaceadaptor/eventjson/eventjson.go", []line{
		{"return []es.AnyAggregate{", "\t\tGadgets(),"},
	}},
	{"cmd/write-api/commands/commands.go", []line{
		{imports, "example.com/threads/interfaceadaptor/eventjson"},
		{"ofOthers.CacheBytes = ", "\tgadgetService := es.NewService(eventjson.Gadgets(), gateway, ofOthers)"},
		{"[]Service{", "\t\t\tgadgetService,"},
		{"[]rest.Aggregate{", "\t\t\trest.Gadgets(gadgetService),"},
	}},
	{"interfaceadaptor/readmodel/chatrows/chatrows.go", []line{
		{imports, "example.com/threads/es/rowstore"},
		{imports, "example.com/threads/es/rowstore/table"},
		{imports, "example.com/threads/interfaceadaptor/eventjson"},
		{imports, "example.com/threads/usecase/chat"},
		{imports, "example.com/threads/usecase/query"},
		{"const Projection = ", "\n// Gadgets is the table of gadgets.\nvar Gadgets = table.Of[query.Gadget](\"gadgets\", 2)"},
		{"return []string{", "\t\tGadgets.Name,"},
		{"return []projection.Handler{", "\t\trowstore.OneRow(Gadgets, eventjson.Gadgets().Events, chat.GadgetRowsVersion, chat.NextGadget),"},
	}},
	{"usecase/query/queries.go", []line{
		{"type Reader interface {", "\tGadgetReader"},
		{imports, "example.com/threads/domain/gadget"},
		{"// Other types.", "\t\t{Type: gadget.AggregateType, Shows: func(ctx context.Context, viewer Viewer, id string) error {\n" +
			"\t\t\tparsed, err := ident.Parse[gadget.Gadget](id)\n\t\t\tif err == nil {\n\t\t\t\t_, err = q.Gadget(ctx, viewer, parsed)\n\t\t\t}\n" +
			"\t\t\treturn err\n\t\t}},"},
	}},
	{"extras/page/src/main.tsx", []line{ // extra:page {
		{"// This application's page.", "import { gadgets } from './aggregates/gadget.ts';"},
		{"aggregates: [", "    gadgets,"},
	}}, // extra:page }
	{"extras/publishing/asyncapi_test.go", []line{ // extra:publishing {
		{imports, "example.com/threads/interfaceadaptor/eventjson"},
		{"\t}{", "\t\t{\"interfaceadaptor/eventjson\", eventjson.Gadgets()},"},
	}}, // extra:publishing }
	// extra:whole {
	{"cmd/standalone/access_test.go", []line{
		{`"task_id": task, "thread_id": thread.id`, `"gadget_id": w.create(t, "/gadgets/open", map[string]any{"name": "first", "quantity": 5, "priority": "LOW", "due": "2026-03-01T12:00:00Z"}, "gadget_id"),`},
		{`= "404 account_not_found"`, `noGadget = "404 gadget_not_found"
			notGadgetOwner = "403 not_the_owner"`},
		{"= []string{noToken, notRegistered, notRegistered", "byGadgetOwner = []string{noToken, notGadgetOwner, notGadgetOwner, ok, noGadget, notGadgetOwner, denied, denied}"},
		{`"/accounts/rename":`, `"/gadgets/open": {map[string]any{"name": "second", "quantity": 0, "priority": "LOW", "due": "2026-03-01T12:00:00Z"}, byAnybody},
			"/gadgets/rename": {map[string]any{"gadget_id": "", "name": "second"}, byGadgetOwner},
			"/gadgets/adjust": {map[string]any{"gadget_id": "", "by": 1}, byGadgetOwner},
			"/gadgets/plan": {map[string]any{"gadget_id": "", "priority": "HIGH", "due": "2026-03-01T12:00:00Z"}, byGadgetOwner},
			"/gadgets/close": {map[string]any{"gadget_id": ""}, byGadgetOwner},`},
		{"var queryFields = ", "\"getGadget\": {`gadgetId: \"{gadget_id}\" {viewer}`, byOwner},"},
		{"var subscriptionFields = ", "\"gadgetChanged\": {`gadgetId: \"{gadget_id}\" {viewer}`, byOwner},"},
	}},
	{"tests/clients/commands.ts", []line{
		{"assert.equal(erased.error?.code, 'erasure_off');", clientCalls},
	}},
	// extra:whole }
	{"docs/asyncapi.yaml", []line{ // extra:publishing {
		{"messages: # of all types", listedMessages},
		{"messages: # with their payloads", messages},
		{"schemas: # of events and their parts", schemas},
	}}, // extra:publishing }
}

// processLists are where a process manager is registered.
var processLists = []registry{
	{"cmd/internal/system/lists.go", []line{
		{"return []func(*eventstore.Store, *slog.Logger) run.Process{", "\t\treplaceGadgets,"},
	}},
}

// The calls of a TypeScript client. // extra:whole {
const clientCalls = `
const { gadget_id } = await done(api.POST('/gadgets/open', { params, body: { executor_id: ada, name: 'first', quantity: 5, priority: 'LOW', due: '2026-03-01T12:00:00Z' } }));
await done(api.POST('/gadgets/rename', { params, body: { executor_id: ada, gadget_id, name: 'second' } }));
await done(api.POST('/gadgets/adjust', { params, body: { executor_id: ada, gadget_id, by: -2 } }));
await done(api.POST('/gadgets/plan', { params, body: { executor_id: ada, gadget_id, priority: 'HIGH', due: '2026-03-01T12:00:00Z' } }));
const closedGadget = await done(api.POST('/gadgets/close', { params, body: { executor_id: ada, gadget_id } }));
assert.equal(closedGadget.version, 5);` // extra:whole }

// The published events of a gadget. // extra:publishing {
const (
	listedMessages = `      GadgetOpened: {$ref: '#/components/messages/GadgetOpened'}
      GadgetRenamed: {$ref: '#/components/messages/GadgetRenamed'}
      GadgetAdjusted: {$ref: '#/components/messages/GadgetAdjusted'}
      GadgetPlanned: {$ref: '#/components/messages/GadgetPlanned'}
      GadgetClosed: {$ref: '#/components/messages/GadgetClosed'}`

	messages = `    GadgetOpened:
      name: GadgetOpened
      summary: A gadget was opened.
      payload: {$ref: '#/components/schemas/GadgetOpened'}
    GadgetRenamed:
      name: GadgetRenamed
      summary: A gadget got another name.
      payload: {$ref: '#/components/schemas/GadgetRenamed'}
    GadgetAdjusted:
      name: GadgetAdjusted
      summary: The quantity of a gadget rose or fell.
      payload: {$ref: '#/components/schemas/GadgetAdjusted'}
    GadgetPlanned:
      name: GadgetPlanned
      summary: A gadget has another priority, or is due at another time.
      payload: {$ref: '#/components/schemas/GadgetPlanned'}
    GadgetClosed:
      name: GadgetClosed
      summary: A gadget was closed.
      payload: {$ref: '#/components/schemas/GadgetClosed'}`

	schemas = `    GadgetOpened:
      allOf: [{$ref: '#/components/schemas/CloudEvent'}]
      properties:
        type: {const: GadgetOpened}
        data:
          properties:
            type: {const: GadgetOpened}
            name: {type: string}
            owner_id: {$ref: '#/components/schemas/ULID'}
            quantity: {type: integer, minimum: 0, maximum: 1000}
            priority: {enum: [LOW, NORMAL, HIGH]}
            due: {type: string, format: date-time}
            replaces_id: {$ref: '#/components/schemas/ULID', description: 'A gadget that is closed then, within seconds.'} # process
          required: [name, owner_id, quantity, priority, due]
    GadgetRenamed:
      allOf: [{$ref: '#/components/schemas/CloudEvent'}]
      properties:
        type: {const: GadgetRenamed}
        data:
          properties:
            type: {const: GadgetRenamed}
            name: {type: string}
          required: [name]
    GadgetAdjusted:
      allOf: [{$ref: '#/components/schemas/CloudEvent'}]
      properties:
        type: {const: GadgetAdjusted}
        data:
          properties:
            type: {const: GadgetAdjusted}
            by: {type: integer}
          required: [by]
    GadgetPlanned:
      allOf: [{$ref: '#/components/schemas/CloudEvent'}]
      properties:
        type: {const: GadgetPlanned}
        data:
          properties:
            type: {const: GadgetPlanned}
            priority: {enum: [LOW, NORMAL, HIGH]}
            due: {type: string, format: date-time}
          required: [priority, due]
    GadgetClosed:
      allOf: [{$ref: '#/components/schemas/CloudEvent'}]
      properties:
        type: {const: GadgetClosed}
        data:
          properties:
            type: {const: GadgetClosed}`
) // extra:publishing }

// forProcess matches the mark of a line, and of the first and last line of a block, that only a process manager needs.
var forProcess = regexp.MustCompile(`[ \t]*(?://|#) process( [{}])?$`)

// cut returns the text without these marks; if it is for no process manager, also without the lines.
func cut(text string, process bool) string {
	var lines []string
	within := false
	for line := range strings.SplitSeq(text, "\n") {
		found := forProcess.FindStringSubmatch(line)
		if process || found == nil && !within {
			lines = append(lines, forProcess.ReplaceAllString(line, ""))
		}
		if found != nil && found[1] != "" {
			within = found[1] == " {"
		}
	}
	return strings.Join(lines, "\n")
}

// withImport returns lines of Go code that import a path. They have a list of imports, which may be empty.
func withImport(lines []string, path string) []string {
	code := strings.Replace(strings.Join(lines, "\n"), "import ()", "import (\n)", 1)
	if !strings.Contains(code, strconv.Quote(path)) {
		code = strings.Replace(code, "\n)", "\n\t"+strconv.Quote(path)+"\n)", 1)
	}
	return strings.Split(code, "\n")
}

// with returns the list with the lines of another aggregate.
func (l registry) with(root string, words func(string) string) (file, error) {
	content, err := os.ReadFile(filepath.Join(root, l.path))
	if err != nil {
		return file{}, err
	}
	lines := strings.Split(string(content), "\n")
	for _, each := range l.lines {
		if each.behind == imports {
			lines = withImport(lines, words(each.add))
			continue
		}
		at := slices.IndexFunc(lines, func(text string) bool { return strings.Contains(text, each.behind) })
		if at < 0 {
			return file{}, fmt.Errorf("%s has no line with %q: register the aggregate by hand, and repair tools/dev/scaffold", l.path, each.behind)
		}
		begin, list, _ := strings.Cut(lines[at], each.behind)
		if end := strings.LastIndex(list, "}"); end >= 0 && strings.HasSuffix(each.behind, "{") { // it is in one line
			split := []string{begin + each.behind}
			if end > 0 {
				split = append(split, list[:end]+",")
			}
			lines = slices.Replace(lines, at, at+1, append(split, list[end:])...)
		}
		lines = slices.Insert(lines, at+1, words(each.add))
	}
	return file{path: l.path, content: strings.Join(lines, "\n")}, nil
}
