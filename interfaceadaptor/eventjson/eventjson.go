// Package eventjson has the aggregate types of this application. Each is one value that joins the rules with the JSON
// of events and states. Every form ever written stays readable and has a golden file in testdata.
package eventjson

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/segmentio/encoding/json"

	"example.com/threads/es"
)

// Types returns all aggregate types.
func Types() []es.AnyAggregate {
	return []es.AnyAggregate{
		Threads(),  // extra:chat
		Accounts(), // extra:chat
	}
}

// complete returns from with an error for JSON that lacks a field without omitempty.
func complete[W, T any](from func(W) T) func(W) (T, error) {
	required := requiredOf(reflect.TypeFor[W]())
	return func(w W) (event T, err error) {
		read := reflect.ValueOf(w)
		for _, field := range required {
			if read.FieldByIndex(field.Index).IsZero() {
				return event, errors.New(field.Name + " is missing")
			}
		}
		return from(w), nil
	}
}

// requiredOf returns the fields without omitempty, also those of fields.
func requiredOf(t reflect.Type, in ...int) (required []reflect.StructField) {
	for field := range t.Fields() {
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		field.Name, field.Index = name, append(in[:len(in):len(in)], field.Index...)
		_, isText := reflect.New(field.Type).Interface().(encoding.TextUnmarshaler)
		switch {
		case option == "omitempty":
		case field.Type.Kind() == reflect.Struct && !isText:
			required = append(required, requiredOf(field.Type, field.Index...)...)
		default:
			required = append(required, field)
		}
	}
	return required
}

// snapshots is the codec of states of type S, whose JSON is a W.
type snapshots[S, W any] struct {
	size  func(S) int
	write func(id string, version uint64, state S) (W, error)
	read  func(W) (id string, version uint64, state S, err error)
}

// Size estimates the bytes that a state takes in memory.
func (s snapshots[S, W]) Size(state S) int { return s.size(state) }

// Encode encodes a state as JSON.
func (s snapshots[S, W]) Encode(id string, version uint64, state S) ([]byte, error) {
	w, err := s.write(id, version, state)
	if err != nil {
		return nil, err
	}
	return json.Append(make([]byte, 0, s.size(state)), w, json.SortMapKeys)
}

// Decode decodes a state, its version and its aggregate's id. It fails with [es.ErrOutdated] for an older format, and
// for a field that this program does not know: the rules of a newer release need it.
func (s snapshots[S, W]) Decode(payload []byte) (id string, version uint64, state S, err error) {
	var w, none W
	rest, unknown := json.Parse(payload, &w, json.DisallowUnknownFields)
	if unknown != nil || len(rest) > 0 {
		w = none
		err = json.Unmarshal(payload, &w)
	}
	if err == nil {
		id, version, state, err = s.read(w)
	}
	switch {
	case err == nil && unknown != nil:
		return "", 0, *new(S), fmt.Errorf("%w: %v", es.ErrOutdated, unknown) //nolint:errorlint // not an error of the caller
	case err == nil || errors.Is(err, es.ErrOutdated):
		return id, version, state, err
	}
	return "", 0, state, fmt.Errorf("the snapshot can't be read: %v", err) //nolint:errorlint // not an error of the caller
}
