package page

import (
	"errors"
	"strings"

	"example.com/threads/extras/access"
	"example.com/threads/infrastructure/config"
)

// UsualAddress is the default of WEB_ADDR.
const UsualAddress = ":28083"

// Settings are read from the environment.
type Settings struct {
	Address string
	URL     string // of the page, for browsers
	// The OAuth client for logins.
	ClientID, ClientSecret string
}

func ReadSettings(r *config.Reader) Settings {
	r = r.Group("The page (extras/page)")
	return Settings{
		Address: r.Address("WEB_ADDR", UsualAddress, "address to listen on, for the page"),
		URL: config.Parsed(r, "WEB_URL", "http://localhost:28083",
			"with AUTH=oidc: where browsers reach the page; the issuer sends them to /login/callback there", parseBase),
		ClientID:     r.String("WEB_CLIENT_ID", "", "with AUTH=oidc: the OAuth client for logins on the page; without it there is no login"),
		ClientSecret: r.Secret("WEB_CLIENT_SECRET", "with AUTH=oidc: its secret, if it has one", func(string) error { return nil }),
	}
}

// Programs are the URLs of the programs behind the page, without a slash at the end.
type Programs struct{ Write, Read, Updater string }

// ReadPrograms reads the URLs of the programs, for a program that does not contain them.
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
	origins, err := access.ParseOrigins(strings.TrimRight(value, "/"))
	if err != nil || len(origins) != 1 {
		return "", errors.New("expected an http or https URL without path and credentials, such as http://127.0.0.1:28080")
	}
	return origins[0], nil
}
