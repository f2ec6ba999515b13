// Package updater assembles the projection: journal reader, store of the read model, projector, source of changes, and
// an HTTP server with health and metrics. read-model-updater and standalone run it over the databases that they open.
package updater
