// Package config reads typed settings from environment variables and reports everything that is
// wrong with them at once. Each program builds its own settings struct from a Reader when it starts
// and refuses to start on Reader.Err; nothing behind that point reads the environment.
package config
