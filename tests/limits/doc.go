// Package limits tests how much memory the states of many threads take, and the clients that mean ill.
package limits
