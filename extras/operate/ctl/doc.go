// Package ctl has the commands of threadctl: they report what is wrong with the data and what to do next, and repair
// what they can while the programs run. They use the library's check, repair, verify and rebuild with the types,
// handlers and tables of this application. See extras/operate/README.md.
package ctl
