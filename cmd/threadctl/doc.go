// Command threadctl is the operators' program: it tells what is wrong with the data and what to do next, and mends
// what can be mended, beside the running programs. See threadctl --help and docs/operations.md.
package main
