// Package limits tests what a client that means no good can take of the real program: its memory.
package limits
