package masterkey_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"example.com/threads/extras/erasure/masterkey"
)

type master interface {
	Wrap(ctx context.Context, key []byte, about string) ([]byte, error)
	Unwrap(ctx context.Context, wrapped []byte, about string) ([]byte, error)
}

func encoded(fill byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, masterkey.Size))
}

func parse(t *testing.T, text string) *masterkey.Local {
	t.Helper()
	local, err := masterkey.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return local
}

// check wraps and unwraps a key, and returns the wrapped form.
func check(t *testing.T, m master) []byte {
	t.Helper()
	key := bytes.Repeat([]byte("k"), 32)
	wrapped, err := m.Wrap(t.Context(), key, "acme/ada")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(wrapped, key) {
		t.Error("the wrapped key contains the key")
	}
	if got, err := m.Unwrap(t.Context(), wrapped, "acme/ada"); err != nil || !bytes.Equal(got, key) {
		t.Errorf("unwrapped %q, %v", got, err)
	}
	if _, err := m.Unwrap(t.Context(), wrapped, "acme/bob"); err == nil {
		t.Error("a key was unwrapped for another owner")
	}
	return wrapped
}

func TestLocal(t *testing.T) {
	old := parse(t, encoded(1))
	wrapped := check(t, old)
	rotated := parse(t, encoded(2)+"\n"+encoded(1)+"\n")
	check(t, rotated)
	if _, err := rotated.Unwrap(t.Context(), wrapped, "acme/ada"); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
	if _, err := parse(t, encoded(3)).Unwrap(t.Context(), wrapped, "acme/ada"); err == nil || !strings.Contains(err.Error(), "add that one") {
		t.Errorf("with another master key: %v", err)
	}
	for _, text := range []string{"", " \n", "short", encoded(1)[:40], encoded(1) + " secret-that-must-not-show"} {
		if _, err := masterkey.Parse(text); err == nil || strings.Contains(err.Error(), "secret-that") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAFileIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "erasure.key")
	if _, err := masterkey.ReadFile(path); err == nil {
		t.Error("a missing file was read")
	}
	made, err := masterkey.ReadOrMakeFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wrapped := check(t, made)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	again, err := masterkey.ReadOrMakeFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Unwrap(t.Context(), wrapped, "acme/ada"); err != nil {
		t.Errorf("with the existing file: %v", err)
	}
}

// The server behaves like AWS KMS: it stores the encryption context and rejects another one.
func TestKMS(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			KeyId, Plaintext, CiphertextBlob string
			EncryptionContext                map[string]string
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.KeyId != "alias/threads" {
			t.Errorf("asked %+v, %v", asked, err)
		}
		about := asked.EncryptionContext["owner"] + "\n"
		answer := map[string]any{"KeyId": "arn"}
		switch r.Header.Get("X-Amz-Target") {
		case "TrentService.Encrypt":
			answer["CiphertextBlob"] = base64.StdEncoding.EncodeToString([]byte(about + asked.Plaintext))
		case "TrentService.Decrypt":
			blob, _ := base64.StdEncoding.DecodeString(asked.CiphertextBlob)
			plain, own := strings.CutPrefix(string(blob), about)
			if !own {
				w.WriteHeader(http.StatusBadRequest)
				answer = map[string]any{"__type": "InvalidCiphertextException"}
			}
			answer["Plaintext"] = plain
		default:
			t.Errorf("asked for %s", r.Header.Get("X-Amz-Target"))
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	wrapped := masterkey.NewKMS(kms.New(kms.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		RetryMaxAttempts: 1,
	}), "alias/threads")
	check(t, wrapped)
	server.Close()
	_, err := wrapped.Wrap(t.Context(), []byte("key"), "acme/ada")
	if classified := interface{ Class() string }(nil); !errors.As(err, &classified) || classified.Class() != "unavailable" {
		t.Errorf("without a server: %v", err)
	}
}
