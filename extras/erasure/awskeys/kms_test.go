package awskeys_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"example.com/threads/es"
	"example.com/threads/extras/erasure/awskeys"
	"example.com/threads/extras/erasure/keystoretest"
)

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
	wrapped := awskeys.NewKMS(kms.New(kms.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		RetryMaxAttempts: 1,
	}), "alias/threads")
	keystoretest.Master(t, wrapped)
	server.Close()
	_, err := wrapped.Wrap(t.Context(), []byte("key"), "acme/ada")
	if es.KindOf(err) != es.Unavailable {
		t.Errorf("without a server: %v", err)
	}
}
