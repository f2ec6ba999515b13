package erasure_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/erasure/keystoretest"
)

// reversed is a fake master key that reverses keys. It counts what it unwraps.
type reversed struct {
	mutex     sync.Mutex
	unwrapped int
}

func (r *reversed) Wrap(_ context.Context, key []byte, about string) ([]byte, error) {
	return append([]byte(about+"|"), key...), nil
}

func (r *reversed) Unwrap(_ context.Context, wrapped []byte, about string) ([]byte, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.unwrapped++
	key, own := strings.CutPrefix(string(wrapped), about+"|")
	if !own {
		return nil, errors.New("of somebody else")
	}
	return []byte(key), nil
}

type keyringFixture struct {
	*erasure.Keyring
	t      *testing.T
	store  *keystoretest.Memory
	master *reversed
	now    time.Time
}

func newFixture(t *testing.T) *keyringFixture {
	f := &keyringFixture{t: t, store: keystoretest.NewMemory(), master: &reversed{}, now: time.Unix(1_700_000_000, 0)}
	f.Keyring = erasure.NewKeyring(f.store, f.master, func() time.Time { return f.now })
	return f
}

func (f *keyringFixture) seal(owner, place, text string) string {
	f.t.Helper()
	sealed, err := f.Seal(f.t.Context(), es.Tenant(""), owner, place, text)
	if err != nil {
		f.t.Fatal(err)
	}
	return sealed
}

func (f *keyringFixture) wantOpened(text, want string) {
	f.t.Helper()
	if got, err := f.OpenOne(f.t.Context(), es.Tenant(""), text); err != nil || got != want {
		f.t.Errorf("opened %q, %v, want %q", got, err, want)
	}
}

const words = "Ännchen sät Grünkohl \"<&>\" \n 😀"

// Who has no key yet may get one from another process at any time.
func TestTheFirstSealedTextOfAPerson(t *testing.T) {
	f := newFixture(t)
	plain := "before erasure was on"
	if err := f.Open(t.Context(), "", []erasure.Text{{Owner: "ada", Value: &plain}}); err != nil {
		t.Fatal(err)
	}
	other := erasure.NewKeyring(f.store, f.master, func() time.Time { return f.now })
	sealed, err := other.Seal(t.Context(), "", "ada", "message 2", words)
	if err != nil {
		t.Fatal(err)
	}
	f.wantOpened(sealed, words)
}

func TestSealedTexts(t *testing.T) {
	f := newFixture(t)
	sealed := f.seal("ada", "message 1", words)
	if !erasure.IsSealed(sealed) || strings.Contains(sealed, "Grünkohl") || erasure.IsSealed(words) {
		t.Errorf("sealed it is %q", sealed)
	}
	f.wantOpened(sealed, words)
	f.wantOpened("plain", "plain")
	f.wantOpened("", "")
	if again := f.seal("ada", "message 1", words); again != sealed {
		t.Error("the same text in the same context is sealed differently, so an unchanged text can't be recognised")
	}
	for about, other := range map[string]string{
		"context": f.seal("ada", "message 2", words), "owner": f.seal("bob", "message 1", words), "text": f.seal("ada", "message 1", words+"!"),
	} {
		if other == sealed {
			t.Errorf("with another %s the sealed text is the same", about)
		}
		if about == "text" {
			f.wantOpened(other, words+"!")
		} else {
			f.wantOpened(other, words)
		}
	}
	const acme = es.Tenant("acme")
	if _, err := f.Seal(t.Context(), acme, "ada", "message 1", words); err != nil {
		t.Fatal(err)
	}
	if got, err := f.OpenOne(t.Context(), acme, sealed); err == nil {
		t.Errorf("another tenant's owner of the same name opens it: %q", got)
	}
	for _, damaged := range []string{sealed[:len(sealed)-2], "\x01", "\x012ada:abc", "\x011ada:!", "\x011ada:", strings.Replace(sealed, "ada", "bob", 1)} {
		if got, err := f.OpenOne(t.Context(), es.Tenant(""), damaged); err == nil {
			t.Errorf("%q is opened as %q", damaged, got)
		}
	}
}

func TestErasure(t *testing.T) {
	f := newFixture(t)
	ada, bob := f.seal("ada", "1", "Ada's words"), f.seal("bob", "2", "Bob's words")
	digestBy := func(k *erasure.Keyring) (string, error) {
		request := es.Request[string]{Caller: es.Caller{Executor: "ada"}, IdempotencyKey: "key", Content: "guess"}
		err := erasure.DigestContent(t.Context(), k, &request)
		return request.Content, err
	}
	digest, err := digestBy(f.Keyring)
	if err != nil || digest == "guess" {
		t.Fatal(digest, err)
	}
	other := erasure.NewKeyring(f.store, f.master, func() time.Time { return f.now }) // in another process
	if again, err := digestBy(other); err != nil || again != digest {
		t.Errorf("in another process the digest is %q, %v, want %q", again, err, digest)
	}
	if err := f.Destroy(t.Context(), es.Tenant(""), "ada"); err != nil {
		t.Fatal(err)
	}
	f.wantOpened(ada, erasure.Erased)  // at once in the process that erased
	f.now = f.now.Add(2 * time.Second) // the time for which a key is cached
	for _, keyring := range []*erasure.Keyring{f.Keyring, other} {
		texts := []string{ada, bob, "Ada's old plain words", "Bob's old plain words", "nobody's"}
		err := keyring.Open(t.Context(), es.Tenant(""), []erasure.Text{
			{Value: &texts[0]}, {Value: &texts[1]}, {Owner: "ada", Value: &texts[2]}, {Owner: "bob", Value: &texts[3]}, {Value: &texts[4]},
		})
		if want := "[erased] Bob's words [erased] Bob's old plain words nobody's"; err != nil || strings.Join(texts, " ") != want {
			t.Errorf("after the erasure: %q, %v", texts, err)
		}
		if _, err := keyring.Seal(t.Context(), es.Tenant(""), "ada", "1", "new"); !errors.Is(err, account.ErrAccountErased) {
			t.Errorf("a new text is sealed: %v", err)
		}
		if _, err := digestBy(keyring); !errors.Is(err, account.ErrAccountErased) {
			t.Errorf("a digest: %v", err)
		}
	}
}

// A key that is missing without a tombstone was lost by mistake. That must not look like an erasure, and no new key may
// replace it.
func TestAMissingKeyIsNoErasure(t *testing.T) {
	f := newFixture(t)
	sealed := f.seal("ada", "1", "words")
	clear(f.store.Entries)
	f.now = f.now.Add(2 * time.Second)
	if got, err := f.OpenOne(t.Context(), es.Tenant(""), sealed); !errors.Is(err, erasure.ErrMissingKey) || !strings.Contains(err.Error(), "ada") || es.KindOf(err) != es.Internal {
		t.Errorf("opened %q, %v", got, err)
	}
	f.seal("ada", "1", "words") // creates a new key
	f.now = f.now.Add(2 * time.Second)
	if got, err := f.OpenOne(t.Context(), es.Tenant(""), sealed); err == nil {
		t.Errorf("opened %q with another key", got)
	}
	f.store.Fails = es.ErrUnavailable
	f.now = f.now.Add(2 * time.Second)
	if _, err := f.OpenOne(t.Context(), es.Tenant(""), sealed); es.KindOf(err) != es.Unavailable {
		t.Errorf("without the store: %v", err)
	}
}

// The store is read once for a page of texts, and again only after a while. An unchanged key must not be unwrapped
// again.
func TestWhatAPageCosts(t *testing.T) {
	f := newFixture(t)
	var texts []erasure.Text
	for _, owner := range strings.Fields("ada bob cleo dave eve") {
		for _, place := range strings.Fields("1 2 3") {
			sealed := f.seal(owner, place, "words")
			texts = append(texts, erasure.Text{Owner: owner, Value: &sealed})
		}
	}
	reader := erasure.NewKeyring(f.store, f.master, func() time.Time { return f.now })
	f.store.Calls, f.master.unwrapped = 0, 0
	open := func(wantCalls, wantUnwrapped int) {
		t.Helper()
		copies := make([]erasure.Text, len(texts))
		for i, text := range texts {
			value := *text.Value
			copies[i] = erasure.Text{Owner: text.Owner, Value: &value}
		}
		if err := reader.Open(t.Context(), es.Tenant(""), copies); err != nil || *copies[0].Value != "words" {
			t.Fatal(*copies[0].Value, err)
		}
		if f.store.Calls != wantCalls || f.master.unwrapped != wantUnwrapped {
			t.Errorf("%d calls, %d keys unwrapped; want %d and %d", f.store.Calls, f.master.unwrapped, wantCalls, wantUnwrapped)
		}
	}
	open(1, 5)
	open(1, 5)
	f.now = f.now.Add(2 * time.Second)
	open(2, 5)
}

// With erasure off nothing is sealed, and sealed texts are not shown.
func TestErasureThatIsOff(t *testing.T) {
	sealed := newFixture(t).seal("ada", "1", "words")
	var off *erasure.Keyring
	if got, err := off.Seal(t.Context(), es.Tenant(""), "ada", "1", "words"); err != nil || got != "words" {
		t.Errorf("sealed %q, %v", got, err)
	}
	if got, err := off.OpenOne(t.Context(), es.Tenant(""), "words"); err != nil || got != "words" {
		t.Errorf("opened %q, %v", got, err)
	}
	if err := off.Destroy(t.Context(), es.Tenant(""), "ada"); !errors.Is(err, erasure.ErrErasureOff) {
		t.Errorf("an erasure: %v", err)
	}
	if _, err := off.OpenOne(t.Context(), es.Tenant(""), sealed); !errors.Is(err, erasure.ErrOff) {
		t.Errorf("a sealed text: %v", err)
	}
}

func TestOpenJSON(t *testing.T) {
	f := newFixture(t)
	quoted := func(text string) string {
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(encoded)
	}
	first, second := quoted(f.seal("ada", "1", words)), quoted(f.seal("bob", "2", "Bob's"))
	document := `{ "n": 1e3 , "a":[` + first + `, "plain\u0041" ,{"b" :` + second + `}],"c":null}` + "\n"
	got, err := f.OpenJSON(t.Context(), es.Tenant(""), []byte(document))
	want := strings.NewReplacer(first, `"Ännchen sät Grünkohl \"<&>\" \n 😀"`, second, `"Bob's"`).Replace(document)
	if err != nil || string(got) != want {
		t.Errorf("opened %v:\n%s\nwant:\n%s", err, got, want)
	}
	for _, plain := range []string{`{"a":"b"}`, ``, `no JSON "\u0001`, `{"a":"x\u0001y"}`} {
		if got, err := f.OpenJSON(t.Context(), es.Tenant(""), []byte(plain)); err != nil || string(got) != plain {
			t.Errorf("%q became %q, %v", plain, got, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add("\x011ada:YWJj", []byte(`{"text":"\u00011ada:YWJj"}`))
	f.Add("\x01", []byte(`["\u0001"`))
	f.Fuzz(func(t *testing.T, text string, document []byte) {
		fixture := newFixture(t)
		fixture.seal("ada", "1", "words")
		if got, err := fixture.OpenOne(t.Context(), es.Tenant(""), text); err == nil && erasure.IsSealed(text) {
			t.Errorf("%q, which is not sealed, is opened as %q", text, got)
		}
		if _, err := fixture.OpenJSON(t.Context(), es.Tenant(""), document); err == nil && json.Valid(document) {
			return
		}
		sealed := fixture.seal("ada", text, text)
		if got, err := fixture.OpenOne(t.Context(), es.Tenant(""), sealed); err != nil || got != text {
			t.Errorf("%q came back as %q, %v", text, got, err)
		}
	})
}
