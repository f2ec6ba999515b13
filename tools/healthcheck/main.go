// Command healthcheck asks a program for its health by HTTP. Container health checks run it inside the image of the
// programs, which has neither a shell nor curl.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"
)

const usage = `Usage: healthcheck URL

Exit code: 0 when a GET of the URL, such as http://127.0.0.1:28080/health/ready, is answered with the status 200 within
three seconds, 1 when it is not, 2 when the usage was wrong.
`

// timeout is longer than the readiness checks of the programs take at most, so that their own verdict gets through.
const timeout = 3 * time.Second

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if slices.Contains(args, "-h") || slices.Contains(args, "--help") {
		fmt.Fprint(stdout, usage)
		return 0
	}
	if len(args) != 1 {
		fmt.Fprint(stderr, usage)
		return 2
	}
	if err := check(ctx, args[0]); err != nil {
		fmt.Fprintln(stderr, "healthcheck:", err)
		return 1
	}
	return 0
}

func check(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 1024)) // what is missing; it may be cut short
		return fmt.Errorf("GET %s: %s: %s", url, response.Status, body)
	}
	return nil
}
