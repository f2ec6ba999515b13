// Command threadctl is the operators' program: it reports what is wrong with the data and what to do next, and repairs
// what it can while the other programs run. See threadctl --help and docs/operations.md.
package main
