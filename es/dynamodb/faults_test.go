package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Failures of DynamoDB that DynamoDB Local never produces. A transport stands between the SDK and the network: calls
// reach the real store unless a test defines a fault.

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

// newTransport returns a transport without faults in front of next.
func newTransport(next aws.HTTPClient) *Transport { return &Transport{next: next} }

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

// Refuse answers with a DynamoDB error, such as ProvisionedThroughputExceededException, without calling the store.
func Refuse(status int, kind string) Fault {
	return func(Call) (*http.Response, error) {
		return respond(status, map[string]any{"__type": errorPrefix + kind, "message": "injected"}), nil
	}
}

const errorPrefix = "com.amazonaws.dynamodb.v20120810#"

// CancelTransaction answers that a transaction was cancelled with these reasons, in the order of its items; the
// remaining items have no reason.
func CancelTransaction(codes ...string) Fault {
	return func(call Call) (*http.Response, error) {
		var input struct{ TransactItems []any }
		if err := json.Unmarshal(call.Body, &input); err != nil {
			return nil, err
		}
		reasons := make([]map[string]any, len(input.TransactItems))
		for i := range reasons {
			reasons[i] = map[string]any{"Code": "None"}
			if i < len(codes) {
				reasons[i] = map[string]any{"Code": codes[i], "Message": "injected"}
			}
		}
		return respond(http.StatusBadRequest, map[string]any{
			"__type": errorPrefix + "TransactionCanceledException", "Message": "injected", "CancellationReasons": reasons,
		}), nil
	}
}

// Reset loses the connection before the call reaches the store.
func Reset(Call) (*http.Response, error) { return nil, syscall.ECONNRESET }

// Stall never answers; the call ends with its context.
func Stall(call Call) (*http.Response, error) {
	<-call.request.Context().Done()
	return nil, call.request.Context().Err()
}

// LoseAnswer lets the store execute the call, then calls meanwhile, then loses the connection.
func LoseAnswer(meanwhile func()) Fault {
	return func(call Call) (*http.Response, error) {
		response, err := call.Send()
		if err != nil {
			return nil, err
		}
		_ = response.Body.Close()
		meanwhile()
		return nil, syscall.ECONNRESET
	}
}

// CutAnswer loses the connection in the middle of the answer.
func CutAnswer(call Call) (*http.Response, error) {
	response, err := call.Send()
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	half := io.MultiReader(bytes.NewReader(body[:len(body)/2]), cut{})
	response.Body = io.NopCloser(half)
	return response, nil
}

type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Edit changes what the store answers.
func Edit(edit func(call Call, answer map[string]any)) Fault {
	return func(call Call) (*http.Response, error) {
		response, err := call.Send()
		if err != nil || response.StatusCode != http.StatusOK {
			return response, err
		}
		defer func() { _ = response.Body.Close() }()
		answer := map[string]any{}
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			return nil, err
		}
		edit(call, answer)
		return respond(http.StatusOK, answer), nil
	}
}

// ForgetToken sends the call with another ClientRequestToken, so that the store takes it for a new call, as it does
// after ten minutes.
func ForgetToken(call Call) (*http.Response, error) {
	input := map[string]any{}
	if err := json.Unmarshal(call.Body, &input); err != nil {
		return nil, err
	}
	input["ClientRequestToken"] = "forgotten " + aws.ToString(Token(call))
	body, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	call.Body = body
	return call.Send()
}

// Token returns the call's ClientRequestToken; nil if it has none.
func Token(call Call) *string {
	var input struct{ ClientRequestToken *string }
	if json.Unmarshal(call.Body, &input) != nil {
		return nil
	}
	return input.ClientRequestToken
}

func respond(status int, answer map[string]any) *http.Response {
	body, err := json.Marshal(answer)
	if err != nil {
		return nil
	}
	return &http.Response{
		StatusCode: status,
		Header:     http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "Content-Length": {strconv.Itoa(len(body))}},
		Body:       io.NopCloser(bytes.NewReader(body)),
	}
}
