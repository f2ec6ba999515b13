package publisher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
)

// openWebhook posts each event. 2xx accepts it; a status that blames the request refuses it; everything else is an
// outage.
func openWebhook(at *url.URL, _ string) (*Broker, error) {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	refuses := func(err error) bool {
		var answer *statusError
		return errors.As(err, &answer) && blames(answer.status)
	}
	return &Broker{publisher: posted{client, at}, refuses: refuses}, nil
}

// posted is a Watermill publisher by HTTP.
type posted struct {
	client *http.Client
	at     *url.URL
}

func (p posted) Publish(_ string, messages ...*message.Message) error {
	for _, m := range messages {
		if err := p.post(m.Context(), m); err != nil {
			return err
		}
	}
	return nil
}

func (p posted) post(ctx context.Context, m *message.Message) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.at.String(), bytes.NewReader(m.Payload))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", m.Metadata.Get(headerContentType))
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, bodyRead) // so that the connection can be used again
	if response.StatusCode/100 == 2 {
		return nil
	}
	return &statusError{response.StatusCode, retryAfter(response.Header.Get("Retry-After"), time.Now())}
}

func (p posted) Close() error {
	p.client.CloseIdleConnections()
	return nil
}

const bodyRead = 4096 // bytes of an answer

// statusError is an answer of a webhook that is not 2xx.
type statusError struct {
	status int
	after  time.Duration // of Retry-After; 0: none
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the webhook answered %d %s", e.status, http.StatusText(e.status))
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

// blames reports whether a status of HTTP says that the request would fail again as it is.
func blames(status int) bool {
	return status >= 400 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooEarly && status != http.StatusTooManyRequests
}
