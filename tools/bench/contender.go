package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-sql-driver/mysql"
	"github.com/oklog/ulid/v2"
)

// The programs of a contender. The second writer runs in one of the tests only.
const (
	roleWriter = iota
	roleUpdater
	roleReader
	roleSecondWriter
	roles
)

// dialect is what the contenders do not have in common: their programs and the form of their requests.
type dialect interface {
	// program returns a program's file, its arguments and its own environment.
	program(role int, address string) (name string, args, env []string)
	// ready is the path that answers 200 when a program with an API is ready.
	ready(role int) string
	create(ctx context.Context, c *contender) (thread string, err error)
	// post returns the message's id. The key, unless empty, tells a repeat from a new command, where there is a way to
	// say so.
	post(ctx context.Context, c *contender, role int, thread, text, key string) (message string, err error)
	// messages queries the messages of a thread: the first page, or the one after the message with an id. It is empty
	// if the first page has all messages.
	messages(thread, user, after string) (query string)
	readPath() string
}

// contender is a system under comparison, on tables and a database of its own.
type contender struct {
	dialect
	lab       *lab
	user      string
	addresses []string // by role
	processes [roles]*exec.Cmd
	client    *sdk.Client
	journal   string // a table of DynamoDB
	database  *sql.DB
	http      http.Client
	env       []string
}

// refusal is an answer that says no. Other errors leave open whether the command was executed.
type refusal struct{ text string }

func (r refusal) Error() string { return r.text }

// newDatabase creates an empty database on the server that devservices has started.
func newDatabase(ctx context.Context) (*mysql.Config, error) {
	config, err := mysql.ParseDSN(os.Getenv(mySQLVar))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mySQLVar, err)
	}
	name := "bench_" + ulid.Make().String()
	server, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		return nil, err
	}
	_, err = server.ExecContext(ctx, "CREATE DATABASE "+name)
	config.DBName = name
	return config, errors.Join(err, server.Close())
}

// newContender returns a contender whose programs do not run yet.
func newContender(ctx context.Context, l *lab, d dialect, user, journal string, config *mysql.Config) (*contender, error) {
	c := &contender{dialect: d, lab: l, user: user, journal: journal}
	c.http = http.Client{Timeout: answerTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	var err error
	if c.addresses, err = freeAddresses(ctx, roles); err != nil {
		return nil, err
	}
	if c.client, err = newSDKClient(ctx); err != nil {
		return nil, err
	}
	c.database, err = sql.Open("mysql", config.FormatDSN())
	return c, err
}

// start starts a program and waits until it is ready. It returns how long that took.
func (c *contender) start(ctx context.Context, role int) (time.Duration, error) {
	name, args, env := c.program(role, c.addresses[role])
	begun := time.Now()
	process, err := c.lab.launch(name, slices.Concat(c.env, env), args...)
	if err != nil {
		return 0, err
	}
	c.processes[role] = process
	path := c.ready(role)
	if path == "" {
		return 0, nil
	}
	err = until(ctx, startTimeout, 2*time.Millisecond, func(ctx context.Context) (bool, error) {
		_, err := get(ctx, "http://"+c.addresses[role]+path)
		return err == nil, nil // or it does not listen yet, or is not ready
	})
	if err != nil {
		return 0, fmt.Errorf("%s %v is not ready: %w", name, args, err)
	}
	return time.Since(begun), nil
}

// kill ends a program as a crash does: kill -9.
func (c *contender) kill(role int) {
	if process := c.processes[role]; process != nil {
		_ = process.Process.Kill()
		_ = process.Wait()
		c.processes[role] = nil
	}
}

func (c *contender) stop() {
	for role := range c.processes {
		c.kill(role)
	}
	_ = c.database.Close()
}

// send posts a body to a program. The answer must be JSON with a status of success and without errors of GraphQL.
func (c *contender) send(ctx context.Context, role int, path, key string, body, result any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	text, err := c.exchange(ctx, role, path, key, encoded)
	if err != nil {
		return err
	}
	var errs struct {
		Errors []struct{ Message string }
	}
	if err := json.Unmarshal(text, &errs); err != nil {
		return err
	}
	if len(errs.Errors) > 0 {
		return refusal{errs.Errors[0].Message}
	}
	return json.Unmarshal(text, result)
}

func (c *contender) exchange(ctx context.Context, role int, path, key string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.addresses[role]+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = refusal{fmt.Sprintf("%s: %s", response.Status, text)}
	}
	return text, err
}

// ask returns the answer to a query.
func (c *contender) ask(ctx context.Context, query string) ([]byte, error) {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return nil, err
	}
	return c.exchange(ctx, roleReader, c.readPath(), "", body)
}

// shown returns how often a query of the messages of each thread has each text.
func (c *contender) shown(ctx context.Context, threads []string) (map[string]int, error) {
	found := map[string]int{}
	for _, thread := range threads {
		query := c.messages(thread, c.user, "")
		for query != "" {
			var page struct {
				Data struct {
					GetMessages []struct{ ID, Text string }
				}
			}
			if err := c.send(ctx, roleReader, c.readPath(), "", map[string]string{"query": query}, &page); err != nil {
				return nil, err
			}
			query = ""
			rows := page.Data.GetMessages
			for _, row := range rows {
				count(found, row.Text)
			}
			if len(rows) == pageSize {
				query = c.messages(thread, c.user, rows[len(rows)-1].ID)
			}
		}
	}
	return found, nil
}

// pageSize is the most messages that a query asks for.
const pageSize = 500

// stored returns how often the journal has each text.
func (c *contender) stored(ctx context.Context) (map[string]int, error) {
	found := map[string]int{}
	pages := sdk.NewScanPaginator(c.client, &sdk.ScanInput{TableName: &c.journal, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			switch payload := item["payload"].(type) {
			case *types.AttributeValueMemberS:
				count(found, payload.Value)
			case *types.AttributeValueMemberB:
				count(found, string(payload.Value))
			}
		}
	}
	return found, nil
}

// rows returns how often the read model has each text of a phase. Both contenders have a table of messages with their
// texts.
func (c *contender) rows(ctx context.Context, phase string) (_ map[string]int, err error) {
	rows, err := c.database.QueryContext(ctx, "SELECT text FROM messages WHERE text LIKE ?", "text."+phase+".%")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found := map[string]int{}
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		count(found, text)
	}
	return found, rows.Err()
}

// until calls done at intervals until it is true or fails.
func until(ctx context.Context, timeout, interval time.Duration, done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if is, err := done(ctx); is || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
