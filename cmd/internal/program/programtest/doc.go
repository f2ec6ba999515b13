// Package programtest is what the tests of the programs have in common: a program's --help is held against what it
// reads ([Program]), and the program is started and asked ([Start], [Get], [Post]).
package programtest
