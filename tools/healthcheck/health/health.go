// Package health requests a program's health, for Docker's health checks and for tests that start programs.
package health

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// timeout is longer than the programs' readiness checks, so that their result arrives.
const timeout = 3 * time.Second

// Check returns nil if a GET of the URL, such as http://127.0.0.1:28080/health/ready, returns the status 200 within
// three seconds. Otherwise the error contains the failed checks.
func Check(ctx context.Context, url string) error {
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
		body, _ := io.ReadAll(io.LimitReader(response.Body, 1024)) // the failed checks; may be cut short
		return fmt.Errorf("GET %s: %s: %s", url, response.Status, body)
	}
	return nil
}
