package dev

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/threads/infrastructure/config"
	"example.com/threads/tools/devservices/internal/dynamodblocal"
	"example.com/threads/tools/devservices/internal/mysqlserver"
)

// Settings say where the development system is.
type Settings struct {
	Root         string // of the clone; absolute
	DynamoDBPort int
	MySQLPort    int
	WriteAPI     string // addresses to listen on
	Updater      string
	ReadAPI      string
}

// ReadSettings reads the ports and addresses from the environment. root is the clone's folder.
func ReadSettings(root string, getenv func(string) string) (Settings, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return Settings{}, err
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return Settings{}, fmt.Errorf("run this in the folder of go.mod: %w", err)
	}
	env := config.NewReader(getenv)
	settings := Settings{
		Root:         root,
		DynamoDBPort: env.Int("DEV_DYNAMODB_PORT", 28000, 1, 65535, "port of DynamoDB Local"),
		MySQLPort:    env.Int("DEV_MYSQL_PORT", 23306, 1, 65535, "port of MySQL or MariaDB"),
		WriteAPI:     env.Address("WRITE_API_ADDR", ":28080", "address of write-api"),
		Updater:      env.Address("UPDATER_ADDR", ":28081", "address of read-model-updater"),
		ReadAPI:      env.Address("READ_API_ADDR", ":28082", "address of read-api"),
	}
	return settings, env.Err()
}

// Folder is where logs, pid files and data are.
func (s Settings) Folder() string { return filepath.Join(s.Root, "data", "dev") }

func (s Settings) dataFolder(service string) string { return filepath.Join(s.Folder(), service) }

// environment is what the programs and the migrations get to see: where the development system has its
// data, with credentials that are good for nothing else, and over this process's own environment. That
// may name the data of another system, in part or as a whole; how the programs work - LOG_LEVEL,
// SNAPSHOT_EVERY and the like - is left to it.
func (s Settings) environment() []string {
	endpoint := dynamodblocal.Endpoint(s.DynamoDBPort)
	return append(withoutAWS(os.Environ()),
		"AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local",
		"AWS_ENDPOINT_URL_DYNAMODB="+endpoint,
		"AWS_ENDPOINT_URL_DYNAMODB_STREAMS="+endpoint,
		"EVENT_STORE="+dynamoDBStore,
		"EVENT_STORE_URL=", // what is empty counts as not set
		"JOURNAL_TABLE=",
		"SNAPSHOT_TABLE=",
		"SHARD_COUNT=", // of the data that is there
		"DATABASE_URL="+mysqlserver.DSN(s.MySQLPort, mysqlserver.Database),
		"WRITE_API_ADDR="+s.WriteAPI,
		"UPDATER_ADDR="+s.Updater,
		"READ_API_ADDR="+s.ReadAPI,
	)
}

// withoutAWS leaves out whatever the AWS SDK reads, of which there is much: profiles, roles, endpoints.
func withoutAWS(env []string) []string {
	return slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "AWS_") })
}
