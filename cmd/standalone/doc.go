// Command standalone is the whole system in one process: write-api, read-model-updater and read-api on the addresses
// that they have as programs of their own, with events and read model in two SQLite files. It needs no other software.
package main
