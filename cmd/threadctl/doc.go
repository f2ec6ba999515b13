// Command threadctl is the operators' program: it reports what is wrong with the data and what to do next, and repairs
// what it can while the other programs run. It reads the settings; the commands are in extras/operate/ctl. See
// threadctl --help and docs/operations.md.
package main
