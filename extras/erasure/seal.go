package erasure

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/segmentio/encoding/json"

	"example.com/threads/es"
)

// A sealed text is mark, version, owner, ":" and the base64 of nonce, ciphertext and tag. The mark is a control
// character, which texts from clients never contain.
const (
	mark    = "\x01"
	version = "1"
	prefix  = mark + version
	keySize = 32
	idSize  = 4 // bytes of a hash of the master key that a key was wrapped with
)

// IsSealed reports whether the text is sealed.
func IsSealed(text string) bool { return strings.HasPrefix(text, mark) }

// ownerOf returns the owner of a sealed text.
func ownerOf(sealed string) (string, error) {
	rest, known := strings.CutPrefix(sealed, prefix)
	owner, _, found := strings.Cut(rest, ":")
	if !known || !found {
		return "", errors.New("a sealed text is damaged, or of a newer version of the program")
	}
	return owner, nil
}

// opened is an unwrapped key.
type opened struct {
	aead cipher.AEAD
	mac  []byte
}

// newOpened derives one key for texts and one for nonces and digests.
func newOpened(key []byte) *opened {
	derive := func(purpose string) []byte {
		derived, _ := hkdf.Key(sha256.New, key, nil, purpose, keySize) // fails only for much longer keys
		return derived
	}
	block, _ := aes.NewCipher(derive("text")) // neither fails with 32 bytes
	aead, _ := cipher.NewGCM(block)
	return &opened{aead, derive("nonce and digest")}
}

func (k *opened) sum(parts ...string) []byte {
	mac := hmac.New(sha256.New, k.mac)
	for _, part := range parts {
		_, _ = fmt.Fprintf(mac, "%d:%s", len(part), part) // a hash's Write never fails
	}
	return mac.Sum(nil)
}

// seal seals a text. The same text and context give the same result.
func (k *opened) seal(about, owner, context, text string) string {
	nonce := k.sum("nonce", about, context, text)[:k.aead.NonceSize()]
	body := k.aead.Seal(nonce, nonce, []byte(text), []byte(about))
	return prefix + owner + ":" + base64.RawURLEncoding.EncodeToString(body)
}

func (k *opened) open(about, sealed string) (string, error) {
	_, body, _ := strings.Cut(sealed, ":")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || len(raw) < k.aead.NonceSize() {
		return "", errors.New("a sealed text is damaged")
	}
	nonce, encrypted := raw[:k.aead.NonceSize()], raw[k.aead.NonceSize():]
	text, err := k.aead.Open(nil, nonce, encrypted, []byte(about))
	if err != nil {
		return "", errors.New("a sealed text is damaged, or was sealed with another key")
	}
	return string(text), nil
}

// jsonString is a string in a JSON document.
var jsonString = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"`)

// OpenJSON returns a JSON document with all its sealed texts opened. Everything else stays unchanged, byte for byte.
func (k *Keyring) OpenJSON(ctx context.Context, tenant es.Tenant, document []byte) ([]byte, error) {
	const sealed = `"\u0001` // how the JSON of a sealed text begins
	if !bytes.Contains(document, []byte(sealed)) {
		return document, nil
	}
	var texts []Text
	for _, written := range jsonString.FindAllString(string(document), -1) {
		if strings.HasPrefix(written, sealed) {
			text := new(string)
			if err := json.Unmarshal([]byte(written), text); err != nil {
				return nil, fmt.Errorf("read a sealed text in JSON: %w", err)
			}
			texts = append(texts, Text{Value: text})
		}
	}
	if err := k.Open(ctx, tenant, texts); err != nil {
		return nil, err
	}
	return jsonString.ReplaceAllFunc(document, func(written []byte) []byte {
		if bytes.HasPrefix(written, []byte(sealed)) {
			written, _ = json.Append(nil, *texts[0].Value, 0) // never fails, and has no HTML escapes
			texts = texts[1:]
		}
		return written
	}), nil
}

// LocalMaster is a [Master] key in memory, with the earlier ones that it has replaced. It is safe for concurrent use.
type LocalMaster []localKey // the first key wraps

type localKey struct {
	id   [idSize]byte
	aead cipher.AEAD
}

// ParseMaster reads master keys: base64 of 32 random bytes each, separated by spaces, commas or newlines. The first one
// wraps; the others can only unwrap. Errors do not quote the text.
func ParseMaster(text string) (LocalMaster, error) {
	var local LocalMaster
	for _, written := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,\n\r\t", r) }) {
		key, err := base64.StdEncoding.DecodeString(written)
		if err != nil || len(key) != keySize {
			return nil, errors.New("a master key must be the base64 of 32 bytes, as `openssl rand -base64 32` prints it")
		}
		block, _ := aes.NewCipher(key) // neither fails with 32 bytes
		aead, _ := cipher.NewGCMWithRandomNonce(block)
		sum := sha256.Sum256(append([]byte("id of master key "), key...))
		local = append(local, localKey{[idSize]byte(sum[:idSize]), aead})
	}
	if len(local) == 0 {
		return nil, errors.New("there is no master key: create one with `openssl rand -base64 32`")
	}
	return local, nil
}

// ReadMaster reads master keys from a file. With create, a missing file gets a new key, which only this user can read.
func ReadMaster(path string, create bool) (LocalMaster, error) {
	if create {
		if err := makeMaster(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("create a file for the master key: %w", err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the file of the master key (if it is lost, bring it back from a backup): %w", err)
	}
	local, err := ParseMaster(string(text))
	if err != nil {
		return nil, fmt.Errorf("the file %s: %w", path, err)
	}
	return local, nil
}

func makeMaster(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails, as documented
	_, err = file.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path)) // which has the file's name
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func (l LocalMaster) Wrap(_ context.Context, key []byte, about string) ([]byte, error) {
	with := l[0]
	return with.aead.Seal(with.id[:], nil, key, []byte(about)), nil
}

func (l LocalMaster) Unwrap(_ context.Context, wrapped []byte, about string) ([]byte, error) {
	for _, with := range l {
		if sealed, own := bytes.CutPrefix(wrapped, with.id[:]); own {
			return with.aead.Open(nil, nil, sealed, []byte(about))
		}
	}
	return nil, errors.New("it was wrapped with a master key that this program does not have: add that one after the current one")
}
