// Package httpserver serves HTTP for all programs: one listener with timeouts and, around the program's handler,
// request ids, one log line per request, recovery from panics, security headers, and a stop that completes accepted
// requests.
//
// cmd/* combines it with the handlers of interfaceadaptor, which do not know this package: a handler reads the request
// id from the X-Request-Id header, where [Wrap] puts it, and logs with the request's context.
package httpserver
