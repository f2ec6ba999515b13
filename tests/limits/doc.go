// Package limits tests how much memory of the real program a malicious client can use.
package limits
