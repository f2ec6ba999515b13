// Package admission is what the APIs ask before they serve a request: who sends it, and what they may do. A program's
// middleware puts a [Guard] into the context of its requests; without one, everybody is admitted.
package admission
