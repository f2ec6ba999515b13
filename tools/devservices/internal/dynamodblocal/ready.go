package dynamodblocal

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Ready asks for the list of tables, unsigned: DynamoDB Local wants to see a signature's form only.
func Ready(port int) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, Endpoint(port), strings.NewReader("{}"))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/x-amz-json-1.0")
		request.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
		request.Header.Set("Authorization", "AWS4-HMAC-SHA256 "+
			"Credential=local/20200101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("ListTables: %s", response.Status)
		}
		return nil
	}
}
