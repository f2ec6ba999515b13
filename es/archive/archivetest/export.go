package archivetest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Export writes a table to a folder as DynamoDB exports it to S3 in DynamoDB JSON, in a number of files. The form is
// that of the developer guide, "DynamoDB table export output format"; DynamoDB Local has no exports.
func Export(t *testing.T, client *dynamodb.Client, table, folder string, files int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(folder, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	lines, counts := make([]bytes.Buffer, files), make([]int, files)
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(table), ConsistentRead: aws.Bool(true)})
	for number := 0; pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			line := map[string]map[string]any{}
			for name, value := range item {
				switch value := value.(type) {
				case *types.AttributeValueMemberS:
					line[name] = map[string]any{"S": value.Value}
				case *types.AttributeValueMemberN:
					line[name] = map[string]any{"N": value.Value}
				case *types.AttributeValueMemberB:
					line[name] = map[string]any{"B": value.Value} // base64
				default:
					t.Fatalf("%s is a %T", name, value)
				}
			}
			into := number % files
			if err := json.NewEncoder(&lines[into]).Encode(map[string]any{"Item": line}); err != nil {
				t.Fatal(err)
			}
			number, counts[into] = number+1, counts[into]+1
		}
	}
	var manifest bytes.Buffer
	for i, count := range counts {
		name := fmt.Sprintf("%026d.json.gz", i)
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		if _, err := writer.Write(lines[i].Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "data", name), packed.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&manifest, `{"itemCount":%d,"md5Checksum":"x","etag":"y","dataFileS3Key":"AWSDynamoDB/01693685827463-2d8752fd/data/%s"}`+"\n", count, name)
	}
	if err := os.WriteFile(filepath.Join(folder, "manifest-files.json"), manifest.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
