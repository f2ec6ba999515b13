// Package mysqlserver finds, installs or borrows from Docker a MySQL or MariaDB server and says how
// to start a private instance of it: own data folder, socket and port, bound to 127.0.0.1, reading no
// configuration of the machine's. launch starts it.
package mysqlserver
