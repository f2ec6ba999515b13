package erasure

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const idSize = 4 // bytes of a hash of the master key that a key was wrapped with

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

// ReadMaster reads master keys from a file. With create, it creates a missing file with a new key that only this user
// can read.
func ReadMaster(path string, create bool) (LocalMaster, error) {
	if create {
		if err := makeMaster(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("create a file for the master key: %w", err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the file of the master key: %w", err)
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
	return errors.Join(err, file.Sync(), file.Close())
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
