package fuzz

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const root = "../.."

var declared = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\)`)

// target is a fuzz target with the folder of its package.
type target struct{ folder, name string }

func TestEveryTargetForAWhile(t *testing.T) {
	duration := os.Getenv("FUZZ_TIME")
	if duration == "" {
		t.Skip("make fuzz sets FUZZ_TIME; other tests run the targets with their seeds only")
	}
	length, err := time.ParseDuration(duration)
	if err != nil {
		t.Fatalf("FUZZ_TIME is %q, expected a duration such as 1m: %v", duration, err)
	}
	targets := find(t)
	if len(targets) < 10 {
		t.Fatalf("there are only %d targets: %v", len(targets), targets)
	}
	for _, each := range targets {
		t.Run(each.folder+"/"+each.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), length+5*time.Minute) // with the first build
			defer cancel()
			for {
				// No long search for smaller inputs; SQLite's translated code is not watched: its build takes minutes.
				command := exec.CommandContext(ctx, "go", "test", "-run=^$", "-fuzz=^"+each.name+"$", "-fuzztime="+duration,
					"-fuzzminimizetime=100x", "-gcflags=github.com/ncruces/go-sqlite3-wasm/...=-d=libfuzzer=0", ".")
				command.Dir = filepath.Join(root, each.folder) // which may be in another module
				output, err := command.CombinedOutput()
				if err != nil && ctx.Err() == nil && outOfTime(output) {
					continue
				}
				if err != nil {
					t.Errorf("%v: %v\n%s", command.Args, err, output)
				}
				return
			}
		})
	}
}

// outOfTime reports whether go test failed only because its time was over while a worker was busy. That says nothing
// about the target.
func outOfTime(output []byte) bool {
	return bytes.Contains(output, []byte("context deadline exceeded")) && !bytes.Contains(output, []byte("Failing input"))
}

// find returns the targets in the tests of all modules.
func find(t *testing.T) (found []target) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".git")):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, name := range declared.FindAllStringSubmatch(string(source), -1) {
			found = append(found, target{folder, name[1]})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
