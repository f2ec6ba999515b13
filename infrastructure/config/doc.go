// Package config reads typed settings from environment variables. A program declares each setting once, where it reads
// it: name, default, limits and purpose. From that follow the checks, the error texts ([Read]) and the text of --help
// ([Help]). All problems are reported at once, and a program with a problem does not start. Nothing else reads the
// environment.
//
// Every variable must be read in any case, even if another variable makes it unused: otherwise Help would not show it.
package config
