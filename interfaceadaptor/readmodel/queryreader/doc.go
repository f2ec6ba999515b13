// Package queryreader implements the ports of usecase/query with SQL on the tables that the projection writes. The same
// statements run on MySQL, MariaDB and SQLite.
//
// Every statement is restricted to the tenant. A page is found by its position, not by counting rows. The pages of
// several lists are read in one statement that reads no more rows than it returns (list.go).
package queryreader
