// Package config reads typed settings from environment variables. A setting is told once, where a program reads it: name,
// default, limits and what it is for. What is an error, what the error says ([Read]) and what --help prints ([Help]) follow
// from that. Everything that is wrong is told at once, and a program refuses to start on it; nothing behind that point
// reads the environment.
//
// Every variable is read in any case, also where another makes it useless: otherwise Help would not know of it.
package config
