package main

import (
	_ "embed"
	"io"
	"strconv"
	"text/template"

	"example.com/threads/tools/dev/devservices/internal/services"
)

//go:embed hints.txt
var hintsText string

var hints = template.Must(template.New("hints").Parse(hintsText))

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
