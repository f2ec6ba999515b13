package faults

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Forever is the number of times of a fault that does not pass.
const Forever = -1

// Call is a request on its way: to be sent, changed, or answered without the store.
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

// On lets the fault answer the next calls of an operation, so many times. Of several faults for one operation, the first
// that is left has its turn.
func (t *Transport) On(operation string, times int, fault Fault) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.faults = append(t.faults, &armed{operation, times, fault})
}

// Clear takes all faults away, and forgets the calls.
func (t *Transport) Clear() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.faults, t.calls = nil, nil
}

// Calls returns the calls of an operation until now, the SDK's retries included.
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

// take notes the call and takes a turn of the fault that is due.
func (t *Transport) take(call Call) Fault {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.calls = append(t.calls, call)
	for _, armed := range t.faults {
		if armed.operation == call.Operation && armed.times != 0 {
			if armed.times > 0 {
				armed.times--
			}
			return armed.fault
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
