package faults

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Forever is the number of times for a permanent fault.
const Forever = -1

// Call is a request that can be sent, changed, or answered without the store.
type Call struct {
	Operation string // such as PutItem
	Body      []byte // JSON
	request   *http.Request
	next      aws.HTTPClient
}

// Fault answers a call.
type Fault func(call Call) (*http.Response, error)

// Transport is an aws.HTTPClient with faults. It is safe for concurrent use.
type Transport struct {
	next aws.HTTPClient

	mutex  sync.Mutex
	faults []*armed
	calls  []Call
}

type armed struct {
	operation string
	times     int
	fault     Fault
}

// New returns a transport without faults in front of next.
func New(next aws.HTTPClient) *Transport { return &Transport{next: next} }

// On applies the fault to the next calls of an operation, the given number of times. Faults for the same operation are
// used in order.
func (t *Transport) On(operation string, times int, fault Fault) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.faults = append(t.faults, &armed{operation, times, fault})
}

// Clear removes all faults and recorded calls.
func (t *Transport) Clear() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.faults, t.calls = nil, nil
}

// Calls returns the calls of an operation so far, including the SDK's retries.
func (t *Transport) Calls(operation string) []Call {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var found []Call
	for _, call := range t.calls {
		if call.Operation == operation {
			found = append(found, call)
		}
	}
	return found
}

// Do is what the SDK calls.
func (t *Transport) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	call := Call{Operation: operation, Body: body, request: request, next: t.next}
	if fault := t.take(call); fault != nil {
		return fault(call)
	}
	return call.Send()
}

// take records the call and returns the fault to apply, if any.
func (t *Transport) take(call Call) Fault {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.calls = append(t.calls, call)
	for _, each := range t.faults {
		if each.operation == call.Operation && each.times != 0 {
			if each.times > 0 {
				each.times--
			}
			return each.fault
		}
	}
	return nil
}

// Send sends the call to the store. DynamoDB Local checks no signature, so the body may have been changed.
func (c Call) Send() (*http.Response, error) {
	request := c.request.Clone(c.request.Context())
	request.Body = io.NopCloser(bytes.NewReader(c.Body))
	request.ContentLength = int64(len(c.Body))
	return c.next.Do(request)
}
