package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// shape is a JSON schema, as far as the types of requests and answers need one. It is written for check.ts, too.
type shape struct {
	Ref        ref               `json:"$ref,omitempty"`
	Type       kinds             `json:"type,omitempty"`
	Properties map[string]*shape `json:"properties,omitempty"`
	Required   []string          `json:"required,omitempty"`
	Values     *shape            `json:"values,omitempty"` // of an object whose names are not known
	Items      *shape            `json:"items,omitempty"`
	Enum       []any             `json:"enum,omitempty"`
	AnyOf      []*shape          `json:"anyOf,omitempty"`
}

// UnmarshalJSON reads a JSON schema.
func (s *shape) UnmarshalJSON(text []byte) error {
	type plain shape // without this method
	var read struct {
		plain
		Others       json.RawMessage `json:"additionalProperties"`
		OneOf, AllOf json.RawMessage
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*s = shape(read.plain)
	if read.OneOf != nil || read.AllOf != nil {
		return errors.New("oneOf and allOf are not supported here")
	}
	if bytes.HasPrefix(read.Others, []byte("{")) {
		return json.Unmarshal(read.Others, &s.Values)
	}
	return nil
}

// ref is the name of a shape.
type ref string

// UnmarshalJSON reads a reference to a schema of a document.
func (r *ref) UnmarshalJSON(text []byte) error {
	var pointer string
	err := json.Unmarshal(text, &pointer)
	*r = ref(path.Base(pointer))
	return err
}

// kinds are JSON types.
type kinds []string

// UnmarshalJSON reads one type, or a list.
func (k *kinds) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("[")) {
		return json.Unmarshal(text, (*[]string)(k))
	}
	*k = make(kinds, 1)
	return json.Unmarshal(text, &(*k)[0])
}

// typescript returns the type of the values.
func (s *shape) typescript() string {
	var types []string
	switch {
	case s == nil:
		return "undefined"
	case s.Ref != "":
		return string(s.Ref)
	case s.Enum != nil:
		for _, value := range s.Enum {
			types = append(types, fmt.Sprintf("'%v'", value))
		}
	case s.AnyOf != nil:
		for _, each := range s.AnyOf {
			types = append(types, each.typescript())
		}
	}
	for _, kind := range s.Type {
		switch {
		case s.Enum != nil:
		case kind == "integer":
			types = append(types, "number")
		case kind == "array":
			types = append(types, "Array<"+s.Items.typescript()+">")
		case kind == "object":
			types = append(types, s.object())
		default:
			types = append(types, kind)
		}
	}
	if len(types) == 0 {
		return "unknown"
	}
	slices.Sort(types)
	return strings.Join(slices.Compact(types), " | ")
}

func (s *shape) object() string {
	if s.Properties == nil && s.Values != nil {
		return "Record<string, " + s.Values.typescript() + ">"
	}
	fields := []string{"{"}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		optional := "?"
		if slices.Contains(s.Required, name) {
			optional = ""
		}
		fields = append(fields, fmt.Sprintf("%s%s: %s;", name, optional, s.Properties[name].typescript()))
	}
	return strings.Join(append(fields, "}"), " ")
}

// catalog has the shapes by their names, and by the names of what they are the answer to.
type catalog struct {
	Shapes, Answers map[string]*shape
}

func (c catalog) define(name string, s *shape) error {
	if c.Shapes[name] != nil {
		return fmt.Errorf("two types have the name %s", name)
	}
	c.Shapes[name] = s
	return nil
}

// typescript returns the catalog for check.ts.
func (c catalog) typescript() (string, error) {
	shapes, err := json.MarshalIndent(c.Shapes, "", " ")
	if err != nil {
		return "", err
	}
	answers, err := json.MarshalIndent(c.Answers, "", " ")
	const format = "import type { Shape } from './check.ts';\n\nexport const shapes: Record<string, Shape> = %s;\n\n" +
		"export const answers: Record<string, Shape> = %s;\n"
	return fmt.Sprintf(format, shapes, answers), err
}
