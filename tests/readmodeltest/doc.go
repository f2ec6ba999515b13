// Package readmodeltest gives the tests of the read side a read model: migrated, empty, on MySQL or MariaDB and on SQLite
// alike, with a [World] that puts rows into it as the projection would, and a count of the statements that read it.
//
//	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
//		w := db.World(t, "acme")
//		chat := w.Thread("Lunch", alice)
//		...
//	})
package readmodeltest
