package architecture

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Module is the path of this module.
const Module = "example.com/threads"

// layers lists the parts of the module with the other parts that they may import and, if limited is set, the
// third-party modules. Paths are relative to the module; the longest match for a package counts.
var layers = map[string]struct {
	imports []string
	limited bool
	modules []string
}{
	"domain": {limited: true, modules: []string{"github.com/oklog/ulid/v2", "github.com/benbjohnson/immutable"}},
	// used by property tests: test code that adapters' tests import
	"domain/thread/threadtest": {imports: []string{"domain"}},
	"usecase":                  {imports: []string{"domain", "es"}, limited: true, modules: smallLibraries},

	"interfaceadaptor/admission": {imports: inner}, // who a request is of, for both APIs
	"interfaceadaptor/rest":      {imports: with(inner, "interfaceadaptor/admission")},
	"interfaceadaptor/graphql":   {imports: with(inner, "interfaceadaptor/admission")},
	// Generated code imports the types of the schema: rows, and those of each extra's part.
	"interfaceadaptor/graphql/generated": {imports: with(inner, "interfaceadaptor/graphql", "extras")},
	"interfaceadaptor/eventjson":         {imports: inner},
	"interfaceadaptor/readmodel":         {imports: with(inner, "interfaceadaptor/eventjson")},

	// The library is a module of its own, which can't import this one.
	"es": {imports: []string{"es"}},

	// An extra imports another one only where its README says so.
	"extras/access": {imports: with(inner, // extra:access {
		"infrastructure", "extras/limits", "interfaceadaptor/admission")}, // extra:access }
	"extras/archive": {imports: []string{"es", "infrastructure"}}, // extra:archive
	"extras/erasure": {imports: with(inner, // extra:erasure {
		"infrastructure", "interfaceadaptor", "extras/history")}, // extra:erasure }
	"extras/history":          {imports: with(inner, "infrastructure", "interfaceadaptor")},         // extra:history
	"extras/lab":              {imports: []string{"docs", "es", "infrastructure"}},                  // extra:lab
	"extras/limits":           {imports: []string{"infrastructure"}},                                // extra:limits
	"extras/limits/documents": {imports: []string{"infrastructure", "interfaceadaptor", "usecase"}}, // extra:limits
	"extras/observe":          {imports: []string{"infrastructure"}},                                // extra:observe
	"extras/operate": {imports: with(inner, // extra:operate {
		"infrastructure", "interfaceadaptor", "rdb-migration")}, // extra:operate }
	"extras/page":       {imports: []string{"extras/access", "infrastructure"}},       // extra:page
	"extras/publishing": {imports: with(inner, "infrastructure")},                     // extra:publishing
	"extras/replica":    {imports: with(inner, "infrastructure", "interfaceadaptor")}, // extra:replica
	"extras/tasks":      {imports: with(inner, "extras/erasure", "interfaceadaptor")}, // extra:tasks
	"extras/tenants":    {imports: with(inner, "infrastructure", "interfaceadaptor")}, // extra:tenants
	"extras/websocket":  {imports: with(inner, "infrastructure", "interfaceadaptor")}, // extra:websocket

	"docs":              {}, // extra:lab
	"infrastructure":    {imports: []string{"es"}},
	"rdb-migration":     {imports: []string{"es/migration", "es/rowstore"}},
	"rdb-migration/cmd": {imports: with(everything, "extras")},
	// The programs alone add extras, in lines that are marked with their names.
	"cmd":   {imports: with(everything, "extras")},
	"tools": {imports: with(everything, "extras")},
	"tests": {imports: with(everything, "extras")},
	// It describes what a program serves. // extra:page {
	"tools/openapi": {imports: with(everything, "extras", "cmd")}, // extra:page }
}

var (
	inner = []string{"domain", "usecase", "es"}
	// smallLibraries are allowed in use cases, because they bring no technology with them.
	smallLibraries = []string{"github.com/oklog/ulid/v2", "golang.org/x/sync", "github.com/hashicorp/golang-lru/v2",
		// the interface of tracing, without exporters
		"go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/codes", "go.opentelemetry.io/otel/propagation", "go.opentelemetry.io/otel/trace"}
	everything = []string{"docs", "domain", "usecase", "interfaceadaptor", "infrastructure", "rdb-migration", "tools", "tests", "es"}
)

func with(parts []string, more ...string) []string { return slices.Concat(parts, more) }

// Graph maps each package of the module to the packages that its files import, without test files.
type Graph map[string][]string

// Violations returns one line, sorted, for every import that breaks the rules and for every package that is in no
// layer.
func Violations(graph Graph) []string {
	var found []string
	for pkg, imports := range graph {
		layer, known := layerOf(short(pkg))
		if !known {
			found = append(found, pkg+" belongs to no layer: add it to tests/architecture/rules.go")
			continue
		}
		for _, imported := range imports {
			if !allowed(layer, imported) {
				found = append(found, fmt.Sprintf("%s must not import %s: %s may import %s", pkg, imported, layer, describe(layer)))
			}
		}
	}
	slices.Sort(found)
	return found
}

func short(pkg string) string { return strings.TrimPrefix(pkg, Module+"/") }

func layerOf(pkg string) (layer string, known bool) {
	for name := range layers {
		if within(pkg, name) && len(name) > len(layer) {
			layer, known = name, true
		}
	}
	return layer, known
}

func allowed(layer, imported string) bool {
	rule := layers[layer]
	if own, is := strings.CutPrefix(imported, Module+"/"); is {
		target, _ := layerOf(own)
		return target == layer || slices.ContainsFunc(rule.imports, func(part string) bool { return within(own, part) })
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	return !rule.limited || slices.ContainsFunc(rule.modules, func(module string) bool { return within(imported, module) })
}

func describe(layer string) string {
	rule := layers[layer]
	may := append([]string{"itself"}, rule.imports...)
	if rule.limited {
		may = append(append(may, "the standard library"), rule.modules...)
	}
	return strings.Join(may, ", ")
}

// within reports whether a package is in a folder, whose name may contain a *.
func within(pkg, folder string) bool {
	parts := strings.Split(pkg, "/")
	depth := strings.Count(folder, "/") + 1
	if len(parts) < depth {
		return false
	}
	match, err := path.Match(folder, strings.Join(parts[:depth], "/"))
	return match && err == nil
}
