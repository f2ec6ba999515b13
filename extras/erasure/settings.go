package erasure

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/infrastructure/config"
)

// Settings are read from the environment.
type Settings struct {
	On       bool
	KeyTable string
	// Exactly one of these is set.
	Key    string // secret
	File   string
	KMSKey string
	// MakeFile creates the key file if it does not exist.
	MakeFile bool
}

const oneOf = "with ERASURE=on, set one of ERASURE_KEY, ERASURE_KEY_FILE and ERASURE_KMS_KEY: "

// ReadSettings reads the settings. The master key's file defaults to fallback, which is created if missing. With an
// empty fallback, one of the settings is required.
func ReadSettings(r *config.Reader, fallback string) Settings {
	r = r.Group("Forgetting a person (extras/erasure)")
	var s Settings
	s.On, s.KeyTable = ReadPlace(r)
	s.Key = r.Secret("ERASURE_KEY", oneOf+"master key, base64 of 32 bytes; keys that it has replaced may follow, separated by commas", func(text string) error {
		if text == "" {
			return nil
		}
		_, err := ParseMaster(text)
		return err
	})
	s.File = r.String("ERASURE_KEY_FILE", "", oneOf+"file with the same")
	s.KMSKey = r.String("ERASURE_KMS_KEY", "", oneOf+"id, ARN or alias of a key in AWS KMS")
	named := len(slices.DeleteFunc([]string{s.Key, s.File, s.KMSKey}, func(setting string) bool { return setting == "" }))
	switch {
	case s.On && named == 0 && fallback != "":
		s.File, s.MakeFile = fallback, true
	case s.On && named != 1:
		r.Wrong("ERASURE is on, which needs exactly one of ERASURE_KEY, ERASURE_KEY_FILE and ERASURE_KMS_KEY")
	}
	return s
}

// ReadPlace reads whether erasure is on, and the name of the DynamoDB table of keys.
func ReadPlace(r *config.Reader) (on bool, table string) {
	on = r.OneOf("ERASURE", "whether texts and names are sealed, so that a person can be forgotten", "off", "on") == "on"
	return on, r.String("KEY_TABLE", "personal-keys", "with ERASURE=on and dynamodb: table of people's keys")
}

// Open returns a keyring over the keys in the database of a relational event store; nil: erasure is off. The package
// awskeys has DynamoDB and AWS KMS.
func Open(ctx context.Context, s Settings, db *sqlx.DB) (*Keyring, error) {
	if !s.On {
		return nil, nil
	}
	keys, keysErr := NewRelationalStore(ctx, db)
	master, err := s.Master()
	return NewKeyring(keys, master, time.Now), errors.Join(keysErr, err)
}

// Master returns the master key of a setting or a file.
func (s Settings) Master() (Master, error) {
	switch {
	case s.KMSKey != "":
		return nil, errors.New("ERASURE_KMS_KEY: this program has no client of AWS KMS; set ERASURE_KEY or ERASURE_KEY_FILE")
	case s.Key != "":
		return ParseMaster(s.Key)
	}
	return ReadMaster(s.File, s.MakeFile)
}
