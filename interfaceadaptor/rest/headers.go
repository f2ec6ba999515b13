package rest

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

// The request headers.
const (
	tenantCode     = "X-Tenant-Code"
	IdempotencyKey = "Idempotency-Key"
	IfMatch        = "If-Match"
	requestID      = "X-Request-Id"
	correlationID  = "X-Correlation-Id"
	traceparent    = "traceparent"
)

// The response headers.
const (
	etag               = "ETag"
	consistencyToken   = "Consistency-Token"
	idempotentReplayed = "Idempotent-Replayed"
	retryAfter         = "Retry-After"
)

// executorHeader says who asks where there is no body that could.
const executorHeader = "X-Executor-Id"

const visibleASCII = `^[!-~]{1,128}$`

// Conditions are what a request says outside its body: the caller and the values of a request's headers.
type Conditions struct {
	Caller         es.Caller // without the executor until the body is read
	IfVersion      uint64    // 0: none is asked for
	IdempotencyKey string
	Principal      admission.Principal
}

// requestHeader describes a header that clients can send.
type requestHeader struct {
	name        string
	description string
	example     string
	expected    string         // in words, for the error
	pattern     *regexp.Regexp // of usable values; nil: whatever it is, the request goes on
	read        func(*Conditions, string) error
}

func requestHeaders() []requestHeader {
	return []requestHeader{
		{
			name: tenantCode, example: "acme",
			description: "Whose threads and accounts these are; without it, those of the tenant with the empty code.",
			expected:    "1 to 32 characters out of a-z, 0-9 and -",
			pattern:     regexp.MustCompile(`^[a-z0-9-]{1,32}$`),
			read: func(c *Conditions, value string) (err error) {
				c.Caller.Tenant, err = es.ParseTenant(value)
				return err
			},
		},
		{
			name: IdempotencyKey, example: "0b9a6c1e-7c1f-4d0c-8a57-6d3f2b1c9e42",
			description: "Makes repeating safe: another request with the same key, from the same tenant and executor to the same path, gets the first answer for at least 24 hours. A rejection is not remembered.",
			expected:    "1 to 128 visible ASCII characters",
			pattern:     regexp.MustCompile(visibleASCII),
			read:        func(c *Conditions, value string) error { c.IdempotencyKey = value; return nil },
		},
		{
			name: IfMatch, example: `"7"`,
			description: "The version that the decision was made on, as the ETag of an answer gave it. At another version the command is rejected. Without it, the server decides on the latest version.",
			expected:    `one version in quotes, such as "7"`,
			pattern:     regexp.MustCompile(`^"[1-9][0-9]{0,18}"$`),
			read: func(c *Conditions, value string) (err error) {
				c.IfVersion, err = strconv.ParseUint(value[1:len(value)-1], 10, 64)
				return err
			},
		},
		{
			name: requestID, example: "b7f2c0de",
			description: "The request's id in logs and on events: 1 to 128 visible ASCII characters. In place of one that is missing or unusable the server makes one; the answer tells which.",
			read:        func(c *Conditions, value string) error { c.Caller.RequestID = value; return nil },
		},
		{
			name: correlationID, example: "checkout-2291",
			description: "The conversation that the request belongs to; without it, the request's id.",
			expected:    "1 to 128 visible ASCII characters",
			pattern:     regexp.MustCompile(visibleASCII),
			read:        func(c *Conditions, value string) error { c.Caller.CorrelationID = value; return nil },
		},
		{
			name: traceparent, example: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
			description: "W3C Trace Context: the request is part of this trace, and its id is logged and stored with the events. A malformed one is ignored.",
			read:        func(*Conditions, string) error { return nil },
		},
	}
}

// readHeaders parses the headers. A condition that the operation does not support is rejected.
func readHeaders(known []requestHeader, header http.Header, without []string) (Conditions, error) {
	var c Conditions
	for _, h := range known {
		values := header.Values(h.name)
		switch {
		case len(values) == 0:
			continue
		case h.pattern == nil:
			_ = h.read(&c, values[0])
			continue
		case len(values) > 1:
			return c, malformed("the header %s must be sent once", h.name)
		case !h.pattern.MatchString(values[0]) || h.read(&c, values[0]) != nil:
			return c, malformed("the header %s must be %s", h.name, h.expected)
		case h.name == IfMatch && slices.Contains(without, IfMatch):
			return c, malformed("the header %s can't be used here: there is no version to compare it with", h.name)
		}
	}
	if c.Caller.CorrelationID == "" {
		c.Caller.CorrelationID = c.Caller.RequestID
	}
	return c, nil
}
