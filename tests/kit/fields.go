package kit

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// EveryField fails for each field, at any depth, that is zero in all values: a test that stores such values and reads
// them back would not notice a lost field. Only fields of this module's types are checked.
func EveryField[T any](t testing.TB, what string, values ...T) {
	t.Helper()
	filled := map[string]bool{}
	for _, value := range values {
		visit(reflect.ValueOf(value), filled)
	}
	if len(filled) == 0 {
		t.Errorf("%s: there are no fields to check", what)
	}
	for _, field := range slices.Sorted(maps.Keys(filled)) {
		if !filled[field] {
			t.Errorf("%s: %s is never set; set it in one of the values", what, field)
		}
	}
}

func visit(value reflect.Value, filled map[string]bool) {
	switch value.Kind() { //nolint:exhaustive // other kinds have no fields
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			visit(value.Elem(), filled)
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			visit(value.Index(i), filled)
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			visit(value.MapIndex(key), filled)
		}
	case reflect.Struct:
		of := value.Type()
		if !strings.HasPrefix(of.PkgPath(), "example.com/threads/") {
			return
		}
		for i := range of.NumField() {
			name := of.String() + "." + of.Field(i).Name
			filled[name] = filled[name] || !value.Field(i).IsZero()
			visit(value.Field(i), filled)
		}
	}
}
