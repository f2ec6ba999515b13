// Package updater puts the projection together, from the inside out: journal reader and store of the read model,
// projector, source of changes, and beside them an HTTP server with health and metrics. read-model-updater and
// standalone run it over the databases that they open.
package updater
