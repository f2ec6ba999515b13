// Package webhook publishes by HTTP: each event is a POST.
package webhook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"example.com/threads/extras/publishing"
)

// Kind is a webhook.
var Kind = &publishing.Kind{
	Schemes: []string{"http", "https"},
	URLs:    "http:// or https:// (a webhook)",
	Open: func(at *url.URL, _ string) (send func(context.Context, publishing.Message) error, end func(), err error) {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = transport.MaxIdleConns // all are to one host
		client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		return func(ctx context.Context, m publishing.Message) error { return post(ctx, client, at, m) }, client.CloseIdleConnections, nil
	},
}

// temporary are the statuses that blame the request, and mean that it may succeed later.
var temporary = []int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}

// post sends a message. 2xx accepts it; a status that blames the request refuses it; everything else is an outage.
func post(ctx context.Context, client *http.Client, to *url.URL, m publishing.Message) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(m.Body))
	if err != nil {
		return publishing.Cause(err)
	}
	request.Header.Set("Content-Type", publishing.ContentType)
	response, err := client.Do(request)
	if err != nil {
		return publishing.Cause(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 4096) // so that the connection can be used again
	why := fmt.Errorf("the webhook answered %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	after := retryAfter(response.Header.Get("Retry-After"), time.Now())
	switch {
	case response.StatusCode/100 == 2:
		return nil
	case response.StatusCode/100 == 4 && !slices.Contains(temporary, response.StatusCode):
		return publishing.Refused(why)
	case after > 0:
		return &publishing.BusyError{Cause: why, After: after}
	}
	return why
}

const longestRetryAfter = time.Hour

// retryAfter reads a header in seconds or as a date.
func retryAfter(header string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), longestRetryAfter)
}
