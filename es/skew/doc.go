// Package skew compares this computer's clock with the event store's, which all writers share. While the clocks differ
// too much, commands are refused.
package skew
