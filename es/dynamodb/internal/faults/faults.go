package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
)

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
