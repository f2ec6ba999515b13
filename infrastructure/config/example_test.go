package config_test

import (
	"fmt"

	"example.com/threads/infrastructure/config"
)

// Everything that is wrong is told at once.
func ExampleReader() {
	environment := map[string]string{"SHARD_COUNT": "many"}
	reader := config.NewReader(func(name string) string { return environment[name] })
	table := reader.String("JOURNAL_TABLE", "journal")
	reader.Int("SHARD_COUNT", 64, 1, 65536)
	reader.Required("AWS_REGION", "the region of the tables")
	fmt.Println(table)
	fmt.Println(reader.Err())
	// Output:
	// journal
	// set these environment variables right and start again:
	// SHARD_COUNT is "many", expected a whole number from 1 to 65536
	// AWS_REGION is not set, expected the region of the tables
}
