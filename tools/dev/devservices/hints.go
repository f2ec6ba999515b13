package main

import (
	"io"
	"strconv"
	"text/template"

	"example.com/threads/tools/dev/devservices/internal/services"
)

var hints = template.Must(template.New("hints").Parse(`
The system is up{{with .Web}}: open {{.}} in a browser.

  page                {{.}}{{else}}.
{{end}}
  commands (REST)     {{.Write}}          documentation {{.Write}}/docs
  queries (GraphQL)   {{.Read}}/graphql  GraphiQL      {{.Read}}
  updater             {{.Updater}}          health        {{.Updater}}/health/ready
  DynamoDB Local      {{.DynamoDB}}
  MySQL or MariaDB    {{.User}}:{{.Password}}@127.0.0.1:{{.MySQLPort}}/{{.Database}}
  logs, process ids   {{.Folder}}

Try it: create a thread, post a message, read it back.
{{with .Login}}
  {{.}}{{end}}
  THREAD=$(curl -s {{.Write}}/threads/create {{.Token}}-H 'Content-Type: application/json' \
    -d '{ {{- .Executor}}"name":"hello"}' | sed 's/.*"thread_id":"\([0-9A-Z]*\)".*/\1/')
  curl -s {{.Write}}/threads/post_message {{.Token}}-H 'Content-Type: application/json' \
    -d '{ {{- .Executor}}"thread_id":"'$THREAD'","text":"first message"}'
  curl -s {{.Read}}/graphql {{.Token}}-H 'Content-Type: application/json' -H "Consistency-Token: $THREAD:2" \
    -d '{"query":"{ getMessages(threadId: \"'$THREAD'\"{{.Viewer}}) { id text createdAt } }"}'

Look into the tables: in a browser at http://127.0.0.1:28001 (with Node 20 or newer), which shows items as they are stored;
snapshots are compressed, and a head is not a state{{with .Decode}}, so threadctl tells what they mean{{end}}.

  export AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local
  DYNAMO_ENDPOINT={{.DynamoDB}} npx --yes dynamodb-admin@5.3.3 --host 127.0.0.1 --port 28001
{{with .Decode}}  AWS_ENDPOINT_URL_DYNAMODB={{$.DynamoDB}} {{.}} thread-$THREAD
{{end}}
make dev-down stops it and keeps the data; make dev-up starts what is not running.
`))

// hints writes the addresses of the running system and commands to paste into a shell.
func (s devSettings) hints(out io.Writer) error {
	const user = "01H42K4ABWQ5V2XQEP3A48VE0Z"
	executor, viewer := `"executor_id":"`+user+`",`, `, userAccountId: \"`+user+`\"`
	login, token := "", ""
	switch s.auth { // a token names its account
	case "dev":
		login = `eval "$(curl -s http://127.0.0.1:28084/tokens)"; token=$ada`
	case "oidc":
		login = "token=...   # one of " + s.issuer
	}
	if login != "" {
		executor, viewer, token = "", "", `-H "Authorization: Bearer $token" `
	}
	return hints.Execute(out, map[string]string{
		"Web":       localURL(s.addresses["web"]),          // extra:page
		"Decode":    "go run ./cmd/threadctl journal show", // extra:operate
		"Write":     localURL(s.addresses["write-api"]),
		"Read":      localURL(s.addresses["read-api"]),
		"Updater":   localURL(s.addresses[updater]),
		"DynamoDB":  services.Endpoint(s.dynamoDBPort),
		"MySQLPort": strconv.Itoa(s.mySQLPort),
		"User":      services.User,
		"Password":  services.Password,
		"Database":  services.Database,
		"Folder":    s.short(""),
		"Login":     login,
		"Token":     token,
		"Executor":  executor,
		"Viewer":    viewer,
	})
}
