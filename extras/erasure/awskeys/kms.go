package awskeys

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	esdynamodb "example.com/threads/es/dynamodb"
)

// KMS wraps keys by calls to AWS KMS. It is safe for concurrent use.
type KMS struct {
	client *kms.Client
	key    string
}

// NewKMS returns the master key of AWS KMS with this id, ARN or alias.
func NewKMS(client *kms.Client, key string) *KMS { return &KMS{client, key} }

// contextOf returns the encryption context. KMS authenticates it with a key and shows it in its audit log.
func contextOf(about string) map[string]string { return map[string]string{"owner": about} }

// Wrap encrypts a key. about is authenticated with it.
func (k *KMS) Wrap(ctx context.Context, key []byte, about string) ([]byte, error) {
	output, err := k.client.Encrypt(ctx, &kms.EncryptInput{KeyId: aws.String(k.key), Plaintext: key, EncryptionContext: contextOf(about)})
	if err != nil {
		return nil, esdynamodb.Explain(ctx, err, "AWS KMS")
	}
	return output.CiphertextBlob, nil
}

// Unwrap decrypts a key that was wrapped with the same about.
func (k *KMS) Unwrap(ctx context.Context, wrapped []byte, about string) ([]byte, error) {
	output, err := k.client.Decrypt(ctx, &kms.DecryptInput{KeyId: aws.String(k.key), CiphertextBlob: wrapped, EncryptionContext: contextOf(about)})
	if err != nil {
		return nil, esdynamodb.Explain(ctx, err, "AWS KMS")
	}
	return output.Plaintext, nil
}
