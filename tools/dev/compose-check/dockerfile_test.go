package compose_test

import (
	"go/version"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

func TestImageIsOfNobody(t *testing.T) {
	user := regexp.MustCompile(`(?m)^USER ([0-9]+):([0-9]+)$`).FindStringSubmatch(read(t, "Dockerfile"))
	if user == nil || user[1] == "0" || user[2] == "0" {
		t.Errorf("the Dockerfile's user is %q, want a number that is not root's", user)
	}
}

// The golang image does not download a newer Go when go.mod requires one. It may have a later release of the same one,
// which mends more.
func TestImageIsBuiltWithTheGoOfTheModule(t *testing.T) {
	module, err := modfile.Parse("go.mod", []byte(read(t, "go.mod")), nil)
	if err != nil {
		t.Fatal(err)
	}
	image := regexp.MustCompile(`(?m)^FROM golang:([0-9.]+)-bookworm AS build$`).FindStringSubmatch(read(t, "Dockerfile"))
	needed := "go" + module.Go.Version
	if image == nil || version.Lang("go"+image[1]) != version.Lang(needed) || version.Compare("go"+image[1], needed) < 0 {
		t.Errorf("the Dockerfile builds with %q, want %s or a later release of it", image, needed)
	}
}

func TestImageHasWhatTheComposeFileRuns(t *testing.T) {
	if !strings.Contains(read(t, "Dockerfile"), " ./cmd/... ") {
		t.Fatal("the Dockerfile does not build all programs")
	}
	built := []string{}
	folders, err := filepath.Glob(filepath.Join(root, "cmd/*/main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, main := range folders {
		built = append(built, "/"+filepath.Base(filepath.Dir(main)))
	}
	for _, folder := range regexp.MustCompile(` \./(\S+/\S+)`).FindAllStringSubmatch(read(t, "Dockerfile"), -1) {
		built = append(built, "/"+filepath.Base(folder[1]))
	}
	project := load(t)
	for _, name := range slices.Concat(programs, jobs) {
		s := service(t, project, name)
		wanted := s.Command[:1]
		if s.HealthCheck != nil {
			wanted = append(slices.Clone(wanted), s.HealthCheck.Test[1])
		}
		for _, command := range wanted {
			if !slices.Contains(built, command) {
				t.Errorf("%s runs %s, and the image has %v", name, command, built)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
