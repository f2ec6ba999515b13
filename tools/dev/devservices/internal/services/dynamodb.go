package services

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.com/threads/tools/dev/devservices/internal/launch"
)

const dynamoDBImage = "amazon/dynamodb-local:3.3.0"

// DynamoDB returns DynamoDB Local as a program.
func DynamoDB(at Instance, progress launch.Progress) launch.Program {
	return launch.Program{
		Name: DynamoDBName, Mark: at.Folder, Port: at.Port,
		Ready: func(ctx context.Context) error { return listTables(ctx, at.Port) },
		Prepare: func(ctx context.Context) ([]string, error) {
			if err := os.MkdirAll(at.Folder, 0o755); err != nil {
				return nil, err
			}
			argv, native := at.dynamoDB(ctx, progress)
			if native == nil {
				return argv, nil
			}
			argv, err := container(ctx, DynamoDBName, at.Folder, append([]string{
				"--user", "root",
				"--publish", fmt.Sprintf("127.0.0.1:%d:8000", at.Port),
				"--volume", at.Folder + ":/data",
				dynamoDBImage, "-jar", jar,
			}, at.storage("/data")...)...)
			if err != nil {
				return nil, fmt.Errorf("no DynamoDB Local: %w; %w; install Java %d and npm, or start Docker, or set %s to a folder with %s",
					native, err, minJava, homeVar, jar)
			}
			return argv, nil
		},
	}
}

// dynamoDB returns the command line without Docker.
func (at Instance) dynamoDB(ctx context.Context, progress launch.Progress) ([]string, error) {
	java, err := findJava(ctx, progress)
	if err != nil {
		return nil, err
	}
	home, err := findHome(ctx, progress)
	if err != nil {
		return nil, err
	}
	return append([]string{
		java, "-XX:+UseSerialGC", // a sixth less processor time on two cores
		"-Djava.io.tmpdir=" + at.Folder, // puts the folder on the command line
		"-Djava.library.path=" + filepath.Join(home, "DynamoDBLocal_lib"),
		"-jar", filepath.Join(home, jar), "-port", strconv.Itoa(at.Port),
	}, at.storage(at.Folder)...), nil
}

func (at Instance) storage(path string) []string {
	if at.Durable {
		return []string{"-sharedDb", "-disableTelemetry", "-dbPath", path}
	}
	return []string{"-disableTelemetry", "-inMemory"} // a database for each access key
}

// listTables lists the tables. DynamoDB Local checks only the form of a signature.
func listTables(ctx context.Context, port int) error {
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
