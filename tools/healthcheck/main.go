// Command healthcheck asks a program for its health by HTTP. Container health checks run it inside the image of the
// programs, which has neither a shell nor curl.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"example.com/threads/tools/healthcheck/health"
)

const usage = `Usage: healthcheck URL

Exit code: 0 when a GET of the URL, such as http://127.0.0.1:28080/health/ready, is answered with the status 200 within
three seconds, 1 when it is not, 2 when the usage was wrong.
`

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
	if err := health.Check(ctx, args[0]); err != nil {
		fmt.Fprintln(stderr, "healthcheck:", err)
		return 1
	}
	return 0
}
