package web

import (
	"errors"
	"net/url"
	"strings"

	"example.com/threads/infrastructure/config"
)

// UsualAddress is where the page is, unless WEB_ADDR says otherwise.
const UsualAddress = ":28083"

// Settings are what the environment says.
type Settings struct {
	Address string
	URL     string // by which browsers reach the page
	// Of the client that people log in with.
	ClientID, ClientSecret string
}

// ReadSettings reads them.
func ReadSettings(r *config.Reader) Settings {
	return Settings{
		Address: r.Address("WEB_ADDR", UsualAddress, "address to listen on, for the page"),
		URL: config.Parsed(r, "WEB_URL", "http://localhost:28083",
			"with AUTH=oidc: where browsers reach the page; the issuer sends them to /login/callback there", parseBase),
		ClientID:     r.String("WEB_CLIENT_ID", "", "with AUTH=oidc: the client of the issuer that people log in with; without it nobody can, on the page"),
		ClientSecret: r.Secret("WEB_CLIENT_SECRET", "with AUTH=oidc: its secret, if it has one", func(string) error { return nil }),
	}
}

// Programs are the URLs of the programs behind the page, without a slash at the end.
type Programs struct{ Write, Read, Updater string }

// ReadPrograms reads where the other programs are, for a program that does not bring them along.
func ReadPrograms(r *config.Reader) Programs {
	base := func(name, fallback, program string) string {
		return config.Parsed(r, name, fallback, "where the page reaches the "+program, parseBase)
	}
	return Programs{
		Write:   base("WRITE_API_URL", "http://127.0.0.1:28080", "write-api"),
		Read:    base("READ_API_URL", "http://127.0.0.1:28082", "read-api"),
		Updater: base("UPDATER_URL", "http://127.0.0.1:28081", "read-model-updater"),
	}
}

func parseBase(value string) (string, error) {
	parsed, err := url.Parse(value)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" || parsed.User != nil ||
		strings.Trim(parsed.Path, "/") != "" || parsed.RawQuery != "" {
		return "", errors.New("expected an http or https URL without path and credentials, such as http://127.0.0.1:28080")
	}
	return parsed.Scheme + "://" + parsed.Host, nil
}
