// Package e2e drives the real programs from outside: commands over REST, queries over GraphQL, kill -9 in between.
//
// The tests build the programs and start them on free ports, with the services of es/estest/testenv. With
// E2E_WRITE_API_URL, E2E_READ_API_URL and E2E_UPDATER_URL set, they use the programs that run there. Tests that must
// start and kill programs are then left out, which is logged.
package e2e
