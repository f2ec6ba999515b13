package table

import (
	"database/sql/driver"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/threads/es"
)

// Of returns the table of rows of type R. Tags name the columns of its fields and of those of embedded structs, as in
// `db:"created_at"`; the first key columns are the primary key. A field is a string, a number, a bool, a time, a
// tenant, a type with String and UnmarshalText, whose zero value is stored as empty text, or a struct of these, such as
// the id of an aggregate, with the columns of its fields as in `db:"tenant_code,aggregate_type,aggregate_id"`.
func Of[R any](name string, key int) Table[R] {
	t := Table[R]{Name: name, Key: key}
	var indexes [][]int
	for _, field := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		switch columns := strings.Split(field.Tag.Get("db"), ","); {
		case columns[0] == "":
		case len(columns) == 1:
			t.Columns, indexes = append(t.Columns, columns[0]), append(indexes, field.Index)
		default:
			for i, column := range columns {
				t.Columns, indexes = append(t.Columns, column), append(indexes, append(slices.Clone(field.Index), i))
			}
		}
	}
	t.Fields = func(row *R) []any {
		fields, in := make([]any, len(indexes)), reflect.ValueOf(row).Elem()
		for i, index := range indexes {
			fields[i] = fieldOf(in.FieldByIndex(index).Addr())
		}
		return fields
	}
	t.ID = func(row *R) []string {
		id, in := make([]string, key), reflect.ValueOf(row).Elem()
		for i, index := range indexes[:key] {
			switch field := in.FieldByIndex(index).Addr().Interface().(type) {
			case *string: // the usual ones without reflection
				id[i] = *field
			case *es.Tenant:
				id[i] = field.String()
			default:
				id[i] = stored(fieldOf(reflect.ValueOf(field)))
			}
		}
		return id
	}
	return t
}

func fieldOf(field reflect.Value) any {
	switch field := field.Interface().(type) {
	case *es.Tenant:
		return &textField{field, func(text string) (err error) {
			*field, err = es.ParseTenant(text)
			return err
		}}
	case *time.Time:
		return (*micros)(field)
	case interface {
		fmt.Stringer
		encoding.TextUnmarshaler
	}:
		return &textField{field, func(text string) error {
			reflect.ValueOf(field).Elem().SetZero()
			if text == "" {
				return nil
			}
			return field.UnmarshalText([]byte(text))
		}}
	}
	if field.Elem().Kind() == reflect.String {
		return field.Convert(reflect.TypeFor[*string]()).Interface()
	}
	return field.Interface()
}

// textField is a field that is stored as text. An error of parse is not wrapped, because an invalid stored value is not
// an error of the caller.
type textField struct {
	field fmt.Stringer
	parse func(string) error
}

// Scan implements [database/sql.Scanner].
func (f *textField) Scan(source any) error {
	var found string
	switch source := source.(type) {
	case string:
		found = source
	case []byte:
		found = string(source)
	default:
		return fmt.Errorf("expected text, found %T", source)
	}
	if err := f.parse(found); err != nil {
		return fmt.Errorf("%q can't be read: %v", found, err) //nolint:errorlint // see above
	}
	return nil
}

// Value implements [driver.Valuer].
func (f *textField) Value() (driver.Value, error) { return f.field.String(), nil }

// micros is a time that is stored as microseconds since 1970.
type micros time.Time

// Scan implements [database/sql.Scanner].
func (f *micros) Scan(source any) error {
	found, known := source.(int64)
	if !known { // MySQL's text protocol
		text, isText := source.([]byte)
		parsed, err := strconv.ParseInt(string(text), 10, 64)
		if !isText || err != nil {
			return fmt.Errorf("expected microseconds, found %T %s", source, text)
		}
		found = parsed
	}
	*f = micros(time.UnixMicro(found).UTC())
	return nil
}

// Value implements [driver.Valuer].
func (f *micros) Value() (driver.Value, error) { return time.Time(*f).UnixMicro(), nil }

// valueOf returns the value of a field, a copy that the driver can bind.
func valueOf(field any) (driver.Value, error) {
	switch field := field.(type) { // the usual ones without reflection
	case *string:
		return *field, nil
	case *bool:
		return *field, nil
	case *uint64:
		if *field <= math.MaxInt64 {
			return int64(*field), nil
		}
	case driver.Valuer:
		return field.Value()
	}
	return driver.DefaultParameterConverter.ConvertValue(field)
}

// Difference is a column in which two rows differ.
type Difference struct{ Column, Expected, Found string }

// Differences are the columns in which found is not what was expected, with the values as they are stored.
func (t Table[R]) Differences(expected, found R) []Difference {
	var differences []Difference
	want, have := t.Fields(&expected), t.Fields(&found)
	for i, column := range t.Columns {
		if left, right := stored(want[i]), stored(have[i]); left != right {
			differences = append(differences, Difference{column, left, right})
		}
	}
	return differences
}

// Describe is the key of a row, for people.
func (t Table[R]) Describe(row R) string {
	id := t.ID(&row)
	return t.Name + " " + id[len(id)-1]
}

// stored is a field as text, the way it is stored.
func stored(field any) string {
	value, err := valueOf(field)
	if err != nil { // nothing that can be stored
		return fmt.Sprint(reflect.Indirect(reflect.ValueOf(field)).Interface())
	}
	switch value := value.(type) {
	case string:
		return value
	case int64:
		return strconv.FormatInt(value, 10)
	case bool:
		return strconv.FormatBool(value)
	default:
		return fmt.Sprint(value)
	}
}
