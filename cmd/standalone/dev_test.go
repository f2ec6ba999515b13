// extra:whole

package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/access"
)

// commandsIn returns a banner's shell commands.
func commandsIn(banner string) string {
	return strings.Join(regexp.MustCompile(`(?m)^  ((?:ada=|eval |thread=|curl ).*)$`).FindAllString(banner, -1), "\n")
}

// The commands that the program prints must work as printed, with tokens and without.
func TestTheBannersLinesWork(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatalf("this test runs the lines that the program prints, which needs curl on the PATH: %v", err)
	}
	for mode, needed := range map[string]string{"none": "executor_id", "dev": "/tokens"} {
		t.Run(mode, func(t *testing.T) {
			r := start(t, map[string]string{"AUTH": mode, "AUTH_DEV_ADDR": "127.0.0.1:0"})
			lines := commandsIn(r.said.String())
			if !strings.Contains(lines, needed) || strings.Count(lines, "\n") != 3 {
				t.Fatalf("the lines are\n%s", lines)
			}
			said, err := exec.CommandContext(t.Context(), "sh", "-euc", lines).CombinedOutput()
			if err != nil || !strings.Contains(string(said), "Anyone for a cup?") || strings.Contains(string(said), `"errors"`) {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
}

// The commands of the README must work in its order.
func TestTheReadmesLinesWork(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	for mode, named := range map[string]string{"none": "executor_id", "dev": "/tokens"} {
		t.Run(mode, func(t *testing.T) {
			at := slices.IndexFunc(blocks, func(block []string) bool { return strings.Contains(block[1], named) })
			if at < 0 {
				t.Fatalf("no block of the README has %s", named)
			}
			address := fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t))
			r := start(t, map[string]string{"AUTH": mode, "AUTH_DEV_ADDR": address})
			lines := strings.NewReplacer("localhost:28080", r.write, "localhost:28082", r.read, "localhost:28084", address).Replace(blocks[at][1])
			said, err := exec.CommandContext(t.Context(), "sh", "-euc", lines).CombinedOutput()
			if err != nil || !strings.Contains(string(said), `"text":"Anyone for a cup?"`) {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
}

func TestTheIssuerForDevelopment(t *testing.T) {
	r := start(t, map[string]string{"AUTH": "dev", "AUTH_DEV_ADDR": "127.0.0.1:0"})
	match := regexp.MustCompile(`tokens +(http://127\.0\.0\.1:\d+)/tokens`).FindStringSubmatch(r.said.String())
	if match == nil {
		t.Fatal("the banner does not name the issuer")
	}
	tokenFor := func(parameters string) string {
		got, err := send(t, http.MethodGet, match[1]+"/token?"+parameters, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.text("access_token")
	}
	command := map[string]any{"name": "tea"}
	expectVerdict(t, "without a token", r.do(t, "", "/threads/create", command), noToken)
	expectVerdict(t, "ada", r.do(t, tokenFor("user=ada"), "/threads/create", command), ok)
	expectVerdict(t, "anybody", r.do(t, tokenFor("account_id="+cleo+"&tenant=acme"), "/threads/create", command, "X-Tenant-Code", "acme"), ok)
	expectVerdict(t, "for reading", r.do(t, tokenFor("user=bob&scope=threads:read"), "/threads/create", command), denied)
	if got, err := send(t, http.MethodGet, match[1]+"/token?user=eve", "", nil); err != nil || got.status != http.StatusBadRequest {
		t.Errorf("an unknown user: %d %s, %v", got.status, got.raw, err)
	}
	// A web page can point a host name of its own to 127.0.0.1 (DNS rebinding). The issuer must refuse such names.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, match[1]+"/tokens", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.example.com"
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("under another name: %s", response.Status)
	}
}

// Every place that an operator may look at must warn that callers are not authenticated.
func TestAnOpenDoorIsLoud(t *testing.T) {
	r := start(t, nil)
	if said := r.said.String(); strings.Count(said, access.OpenWarning) < 2 { // banner and log
		t.Errorf("it says\n%s", said)
	}
	for _, url := range []string{
		r.write + "/health/alive", r.write + "/health/ready", r.read + "/health/alive", r.read + "/health/ready", r.write + "/openapi.json",
		r.updater + "/health/alive", r.updater + "/health/ready",
	} {
		got, err := send(t, http.MethodGet, url, "", nil)
		if err != nil || !strings.Contains(got.raw, access.OpenWarning) {
			t.Errorf("%s lacks the warning: %s, %v", url, got.raw, err)
		}
	}
}
