// Package taskcodec is the JSON of tasks: of their events and of their snapshots.
package taskcodec
