package erasure_test

import (
	"errors"
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/extras/erasure"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
)

// A repeat may arrive after an upgrade, so the name and the content that it is recognised by must not change.
func TestTheContentOfAnErasureStaysWhatItIs(t *testing.T) {
	const body = `{"executor_id":"01H42K4ABWQ5V2XQEP3A48VE0Z"}`
	request, err := erasure.Operation(nil).Prepare(rest.Conditions{IdempotencyKey: "key"}, []byte(body))
	if err != nil || request.Name != "account.Erase" || request.Content != body {
		t.Errorf("%+v, %v", request, err)
	}
}

func TestNobodyIsErasedWhileErasureIsOff(t *testing.T) {
	var off *erasure.Keyring
	operation := erasure.Operation(off.Commands(chat.Services{}, nil).Accounts)
	request, err := operation.Prepare(rest.Conditions{}, []byte(`{"executor_id":"01H42K4ABWQ5V2XQEP3A48VE0Z"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := request.Execute(t.Context()); !errors.Is(err, erasure.ErrErasureOff) || errors.Is(err, account.ErrAccountErased) {
		t.Error(err)
	}
}
