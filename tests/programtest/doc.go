// Package programtest is what the tests of the programs share. It compares a program's --help with the settings that it
// reads ([Program]), starts the program, on tables of its own ([OnDynamoDB]), and sends it requests ([Start], [Get],
// [Post]).
package programtest
