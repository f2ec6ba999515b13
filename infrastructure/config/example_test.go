package config_test

import (
	"fmt"

	"example.com/threads/infrastructure/config"
)

type settings struct {
	address string
	shards  int
	level   string
}

func readSettings(r *config.Reader) settings {
	return settings{
		address: r.Address("READ_API_ADDR", ":28082", "address to listen on"),
		level:   r.Group("Logging").String("LOG_LEVEL", "info", "level of the log"),
		shards:  r.Int("SHARD_COUNT", 64, 1, 65536, "logical shards"),
	}
}

// All problems are reported at once.
func ExampleRead() {
	environment := map[string]string{"READ_API_ADDR": "28082", "SHARD_COUNT": "many"}
	_, err := config.Read(func(name string) string { return environment[name] }, readSettings)
	fmt.Println(err)
	// Output:
	// correct these environment variables and start again:
	// READ_API_ADDR is "28082", expected host:port or :port, such as :28080
	// SHARD_COUNT is "many", expected a whole number from 1 to 65536
}

func ExampleHelp() {
	fmt.Print(config.Help(readSettings))
	// Output:
	//   READ_API_ADDR  address to listen on (:28082)
	//   SHARD_COUNT    logical shards; 1 to 65536 (64)
	//
	// Logging:
	//   LOG_LEVEL      level of the log (info)
}
