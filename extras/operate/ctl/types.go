package ctl

import (
	"maps"
	"slices"

	"example.com/threads/es"
	"example.com/threads/es/journalcheck"
)

// knownTypes are the aggregate types of the program by name.
type knownTypes map[string]es.AnyAggregate

func byName(types []es.AnyAggregate) knownTypes {
	known := knownTypes{}
	for _, each := range types {
		known[each.Type()] = each
	}
	return known
}

func (t knownTypes) names() []string { return slices.Sorted(maps.Keys(t)) }

func (t knownTypes) decoders() map[string]journalcheck.Decoder {
	decoders := map[string]journalcheck.Decoder{}
	for name, each := range t {
		decoders[name] = journalcheck.Decoder{
			Event: func(payload []byte) error {
				_, err := each.DecodeEvent(payload)
				return err
			},
			Snapshot: each.DecodeSnapshot,
		}
	}
	return decoders
}
