package table

import (
	"fmt"
	"reflect"
	"strconv"
)

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
