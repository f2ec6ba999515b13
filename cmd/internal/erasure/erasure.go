// Package erasure reads the settings of ERASURE and creates a keyring from the event store's key store and the master
// key.
package erasure

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/erasure/masterkey"
	"example.com/threads/infrastructure/awsclient"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
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
	var s Settings
	s.On, s.KeyTable = stores.ReadErasure(r)
	s.Key = r.Secret("ERASURE_KEY", oneOf+"master key, base64 of 32 bytes; keys that it has replaced may follow, separated by commas", func(text string) error {
		if text == "" {
			return nil
		}
		_, err := masterkey.Parse(text)
		return err
	})
	s.File = r.String("ERASURE_KEY_FILE", "", oneOf+"file with the same")
	s.KMSKey = r.String("ERASURE_KMS_KEY", "", oneOf+"id, ARN or alias of a key in AWS KMS")
	named := 0
	for _, setting := range []string{s.Key, s.File, s.KMSKey} {
		if setting != "" {
			named++
		}
	}
	switch {
	case s.On && named == 0 && fallback != "":
		s.File, s.MakeFile = fallback, true
	case s.On && named != 1:
		r.Wrong("ERASURE is on, which needs exactly one of ERASURE_KEY, ERASURE_KEY_FILE and ERASURE_KMS_KEY")
	}
	return s
}

// Open returns a keyring over the keys of the event store; nil: erasure is off.
func Open(ctx context.Context, s Settings, store *eventstore.Store) (*erasure.Keyring, error) {
	if !s.On {
		return nil, nil
	}
	keys, err := store.Keys(s.KeyTable)
	if err != nil {
		return nil, err
	}
	master, err := s.master(ctx)
	if err != nil {
		return nil, err
	}
	return erasure.NewKeyring(keys, master, time.Now), nil
}

// OpenIn is Open for a program that can run without the event store. With erasure on, it needs the store at the start.
func OpenIn(ctx context.Context, s Settings, later *eventstore.Later) (*erasure.Keyring, error) {
	if !s.On {
		return nil, nil
	}
	store, err := later.Store(ctx)
	if err != nil {
		return nil, err
	}
	return Open(ctx, s, store)
}

func (s Settings) master(ctx context.Context) (erasure.Master, error) {
	switch {
	case s.KMSKey != "":
		awsConfig, err := awsclient.Load(ctx)
		if err != nil {
			return nil, err
		}
		return masterkey.NewKMS(kms.NewFromConfig(awsConfig), s.KMSKey), nil
	case s.Key != "":
		return masterkey.Parse(s.Key)
	case s.MakeFile:
		return masterkey.ReadOrMakeFile(s.File)
	}
	return masterkey.ReadFile(s.File)
}
