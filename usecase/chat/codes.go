package chat

import (
	"context"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/sequence"
)

// CodeKind is the sequence of the threads' codes, with which they begin.
const CodeKind = "THREAD"

// WithCodes returns threads, with a code for each new thread from codes. The code of a creation that is rejected or
// repeated is lost; a repeat gets the first answer, and with it the first code.
func WithCodes(threads Service[thread.Command], codes *sequence.Sequence) Service[thread.Command] {
	return codedThreads{threads, codes}
}

type codedThreads struct {
	Service[thread.Command]
	codes *sequence.Sequence
}

func (t codedThreads) Handle(ctx context.Context, request es.Request[thread.Command]) (es.Result, error) {
	if create, creates := request.Command.(thread.Create); creates {
		code, err := t.codes.NextCode(ctx, request.Caller.Tenant)
		if err != nil {
			return es.Result{}, err
		}
		create.Code = thread.RecordedCode(code)
		request.Command = create
	}
	return t.Service.Handle(ctx, request)
}
