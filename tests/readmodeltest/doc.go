// Package readmodeltest gives tests of the read side a migrated, empty read model on MySQL or MariaDB and on SQLite,
// with a [World] that feeds the projection, and a counter of statements.
//
//	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
//		w := db.World(t, "acme")
//		chat := w.Thread("Lunch", alice)
//		...
//	})
package readmodeltest
