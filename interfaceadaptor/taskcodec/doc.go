// Package taskcodec encodes tasks as JSON: their events and their snapshots.
package taskcodec
