// Command healthcheck requests a program's health over HTTP. Container health checks run it inside the image of the
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

Sends a GET to the URL, such as http://127.0.0.1:28080/health/ready.

Exit code: 0 the answer within three seconds is 200, 1 it is not, 2 wrong usage.
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
