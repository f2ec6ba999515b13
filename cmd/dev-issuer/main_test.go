package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/access"
	"example.com/threads/extras/access/devissuer"
	"example.com/threads/tests/programtest"
)

var underTest = programtest.Program[settings]{Run: run, ReadSettings: readSettings}

func TestHelp(t *testing.T)                { underTest.CheckHelp(t) }
func TestArgumentsAreRefused(t *testing.T) { underTest.CheckArguments(t) }

// In the compose file, requests come from other containers, or by the network's gateway.
func TestOthersReachItByANameOfThisMachine(t *testing.T) {
	port := testenv.FreePort(t)
	programtest.Start(t, run, map[string]string{"DEV_ISSUER_ADDR": fmt.Sprintf(":%d", port)})
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		ip := address.(*net.IPNet).IP
		if ip.To4() == nil {
			continue
		}
		for host, want := range map[string]int{"auth.localhost:28084": http.StatusOK, "issuer.example": http.StatusMisdirectedRequest} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://%s:%d/jwks", ip, port), nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = host
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("from %s for %s: %d, want %d", ip, host, response.StatusCode, want)
			}
		}
	}
}

// Tokens must be valid under the URL by which the APIs reach the issuer.
func TestItsTokensAreGood(t *testing.T) {
	url := fmt.Sprintf("http://127.0.0.1:%d", testenv.FreePort(t))
	programtest.Start(t, run, map[string]string{"DEV_ISSUER_ADDR": strings.TrimPrefix(url, "http://"), "DEV_ISSUER_URL": url})
	if got := programtest.Get(t, url+"/health/ready"); got.Status != http.StatusOK {
		t.Fatalf("%+v", got)
	}
	tokens := programtest.Get(t, url+"/tokens").Body
	v := access.NewVerifier(access.Settings{
		Issuer: url, Audience: devissuer.Audience, AccountClaim: devissuer.AccountClaim, TenantClaim: devissuer.TenantClaim,
		ClockSkew: time.Second,
	}, slog.New(slog.DiscardHandler))
	for _, line := range strings.Split(strings.TrimSpace(tokens), "\n") {
		name, token, _ := strings.Cut(line, "=")
		if verified, err := v.Verify(t.Context(), token); err != nil || verified.Account.IsZero() {
			t.Errorf("%s: %+v, %v", name, verified, err)
		}
	}
}
