// Package queryreader reads the read model with SQL: it answers the ports of usecase/query from the tables that the
// projection writes. The same statements run on MySQL, MariaDB and SQLite.
//
// Every statement names the tenant. A page is found by its position, not by counting, and the pages of several lists
// come in one statement that reads no more rows than it returns (list.go).
package queryreader
