// Package chatstore has the repositories of this application's aggregates: the engine's repository with their codecs.
package chatstore
