// Package eventstore opens the event store that EVENT_STORE names ([Open]) and, for the projection, the source of
// changes that belongs to it ([Store.Source]). What is different between the stores ends here: the programs see a
// gateway and a source. write-api, read-model-updater and standalone use it.
package eventstore
