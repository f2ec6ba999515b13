package masterkey

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
)

// KMS wraps keys by calls to AWS KMS. It is safe for concurrent use.
type KMS struct {
	client *kms.Client
	key    string
}

// NewKMS returns the master key with an id, ARN or alias.
func NewKMS(client *kms.Client, key string) *KMS { return &KMS{client, key} }

// contextOf is what KMS authenticates with a key, and shows in its audit log.
func contextOf(about string) map[string]string { return map[string]string{"owner": about} }

// Wrap encrypts a key. about is authenticated with it.
func (k *KMS) Wrap(ctx context.Context, key []byte, about string) ([]byte, error) {
	output, err := k.client.Encrypt(ctx, &kms.EncryptInput{KeyId: aws.String(k.key), Plaintext: key, EncryptionContext: contextOf(about)})
	if err != nil {
		return nil, fmt.Errorf("AWS KMS: %w", err)
	}
	return output.CiphertextBlob, nil
}

// Unwrap decrypts a key that was wrapped with the same about.
func (k *KMS) Unwrap(ctx context.Context, wrapped []byte, about string) ([]byte, error) {
	output, err := k.client.Decrypt(ctx, &kms.DecryptInput{KeyId: aws.String(k.key), CiphertextBlob: wrapped, EncryptionContext: contextOf(about)})
	if err != nil {
		return nil, fmt.Errorf("AWS KMS: %w", err)
	}
	return output.Plaintext, nil
}
