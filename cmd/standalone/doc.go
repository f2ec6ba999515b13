// Command standalone is the whole system in one process: write-api, read-model-updater and read-api on their usual
// addresses, with events and read model in two SQLite files. It needs no other software.
package main
