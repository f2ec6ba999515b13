package erasure

import (
	"context"
	"fmt"
	"time"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/jmoiron/sqlx"

	"example.com/threads/es/dynamodb/schema"
	"example.com/threads/es/migration"
	"example.com/threads/extras/erasure/masterkey"
	"example.com/threads/infrastructure/awsclient"
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
	s.On, s.KeyTable = readPlace(r)
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

func readPlace(r *config.Reader) (on bool, table string) {
	on = r.OneOf("ERASURE", "whether texts and names are sealed, so that a person can be forgotten", "off", "on") == "on"
	return on, r.String("KEY_TABLE", "personal-keys", "with ERASURE=on and dynamodb: table of people's keys")
}

// ReadTables returns the DynamoDB tables that the settings need.
func ReadTables(r *config.Reader) (tables []schema.Table) {
	if on, name := readPlace(r); on {
		tables = append(tables, Table(name))
	}
	return tables
}

// Database is where the keys are: that of the event store.
type Database interface {
	// SQL is the database of a relational store; nil: the store is on DynamoDB.
	SQL() *sqlx.DB
	DynamoDB() *awsdynamodb.Client
}

// Open returns a keyring over the keys in the event store's database; nil: erasure is off.
func Open(ctx context.Context, s Settings, database Database) (*Keyring, error) {
	if !s.On {
		return nil, nil
	}
	keys, err := s.keys(ctx, database)
	if err != nil {
		return nil, err
	}
	master, err := s.master(ctx)
	if err != nil {
		return nil, err
	}
	return NewKeyring(keys, master, time.Now), nil
}

// OpenIn is Open for a program that can run without the event store. With erasure on, it needs the store at the start.
func OpenIn[D Database](ctx context.Context, s Settings, open func(context.Context) (D, error)) (*Keyring, error) {
	if !s.On {
		return nil, nil
	}
	database, err := open(ctx)
	if err != nil {
		return nil, err
	}
	return Open(ctx, s, database)
}

func (s Settings) keys(ctx context.Context, database Database) (Store, error) {
	db := database.SQL()
	if db == nil {
		return NewDynamoDBStore(database.DynamoDB(), s.KeyTable), nil
	}
	if err := migration.Check(ctx, db, Schema()); err != nil {
		return nil, fmt.Errorf("EVENT_STORE_URL: %w", err)
	}
	return NewRelationalStore(db)
}

func (s Settings) master(ctx context.Context) (Master, error) {
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
