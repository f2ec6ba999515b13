package table

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"time"

	"example.com/threads/es"
)

// Text is a field that is stored as text: parse reads it, String writes it. An error of parse is not wrapped, because
// an invalid stored value is not an error of the caller.
func Text[T fmt.Stringer](field *T, parse func(string) (T, error)) any {
	return &textField[T]{field, parse}
}

type textField[T fmt.Stringer] struct {
	field *T
	parse func(string) (T, error)
}

// Scan implements [database/sql.Scanner].
func (f *textField[T]) Scan(source any) error {
	var found string
	switch source := source.(type) {
	case string:
		found = source
	case []byte:
		found = string(source)
	default:
		return fmt.Errorf("expected text, found %T", source)
	}
	parsed, err := f.parse(found)
	if err != nil {
		return fmt.Errorf("%q can't be read: %v", found, err) //nolint:errorlint // see above
	}
	*f.field = parsed
	return nil
}

// Value implements [driver.Valuer].
func (f *textField[T]) Value() (driver.Value, error) { return (*f.field).String(), nil }

// Tenant is a field that is stored as the tenant's code.
func Tenant(field *es.Tenant) any { return Text(field, es.ParseTenant) }

// Time is a field that is stored as microseconds since 1970.
func Time(field *time.Time) any { return (*micros)(field) }

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
