package services

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// With a canceled context the search misses an installed Java, so it must not install another one.
func TestAStoppedSearchInstallsNothing(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"java", "apt-get"} {
		script := "#!/bin/sh\necho 'openjdk version \"17.0.1\"'\n"
		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder)
	t.Setenv("JAVA_HOME", "")
	refuse := func(format string, args ...any) { t.Errorf(format, args...) }
	if java, err := findJava(t.Context(), refuse); err != nil || java != filepath.Join(folder, "java") {
		t.Errorf("found %q, %v", java, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := findJava(ctx, refuse); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
