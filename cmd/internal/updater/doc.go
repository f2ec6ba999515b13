// Package updater wires the read-model-updater: it hands the application's projections, process manager, publisher and
// task worker to the library's runtime (es/run), and serves its health, metrics and operations over HTTP.
// read-model-updater and standalone run it over the databases that they open.
package updater
