// Package httpserver is how every program serves HTTP: one listener with timeouts, and around the program's handler what
// all of them need - request ids, a log line a request, recovery from panics, headers that guard answers, and a stop that
// finishes what was accepted.
//
// cmd/* joins it with the handlers of interfaceadaptor. Those do not know this package: a handler reads the request's
// id from the X-Request-Id header, where [Wrap] has put it, and logs with the request's context.
package httpserver
