// extra:whole

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

const (
	bob   = "01BX5ZZKBKACTAV9WEVGEMMVRZ"
	cleo  = "01BX5ZZKBKACTAV9WEVGEMMVS0"
	dave  = "01BX5ZZKBKACTAV9WEVGEMMVS1"
	acme  = "acme"
	usual = "threads:read threads:write"
)

// The actors of the tables, in the order of the tables' columns.
const (
	nobody      = "nobody"       // no token
	stranger    = "stranger"     // an account of the tenant, in no thread
	member      = "member"       // a member of the thread
	admin       = "Admin"        // an Admin of the thread
	otherTenant = "other tenant" // the Admin's account, in another tenant
	operator    = "operator"     // a stranger with the scope threads:operate
	impostor    = "impostor"     // a stranger who names the Admin's account
	unscoped    = "unscoped"     // the Admin, with a token for the other API
)

var actors = []string{nobody, stranger, member, admin, otherTenant, operator, impostor, unscoped}

// world is the program with a token for each actor.
type world struct {
	*running
	issuer
	tokens map[string]string
}

func newWorld(t *testing.T, unscopedScope string) world {
	i := newIssuer(t)
	return world{start(t, i.trusted()), i, map[string]string{
		nobody:      "",
		stranger:    i.token(t, cleo, acme, usual),
		member:      i.token(t, bob, acme, usual),
		admin:       i.token(t, ada, acme, usual),
		otherTenant: i.token(t, ada, "other", usual),
		operator:    i.token(t, dave, acme, usual+" threads:operate"),
		impostor:    i.token(t, cleo, acme, usual),
		unscoped:    i.token(t, ada, acme, unscopedScope),
	}}
}

// exampleThread is a thread with a message.
type exampleThread struct{ id, code, message string }

// newThread creates a thread of ada's with bob as a member and a message of bob's. The tokens name the accounts; the
// bodies do not.
func (w world) newThread(t *testing.T) exampleThread {
	t.Helper()
	created := w.do(t, w.tokens[admin], "/threads/create", map[string]any{"name": "tea"})
	id := created.text("thread_id")
	added := w.do(t, w.tokens[admin], "/threads/add_member", map[string]any{"thread_id": id, "user_account_id": bob, "role": "Member"})
	posted := w.do(t, w.tokens[member], "/threads/post_message", map[string]any{"thread_id": id, "text": "hello"})
	if created.status != http.StatusCreated || added.status != http.StatusOK || posted.status != http.StatusOK {
		t.Fatalf("%s\n%s\n%s", created.raw, added.raw, posted.raw)
	}
	w.waitFor(t, posted.token())
	return exampleThread{id: id, code: created.text("code"), message: posted.text("message_id")}
}

// examples returns what the actors try operations on, by the name of a command's field. All of it is new and ada's, but
// for bob's message and the task.
func (w world) examples(t *testing.T, task string) map[string]string {
	t.Helper()
	thread := w.newThread(t)
	return map[string]string{
		"task_id": task, "thread_id": thread.id, "code": thread.code, "message_id": thread.message,
	}
}

// create sends a command of ada's, waits until its effect is visible, and returns the field of its answer.
func (w world) create(t *testing.T, path string, body map[string]any, field string) string {
	t.Helper()
	created := w.do(t, w.tokens[admin], path, body)
	if created.status >= http.StatusMultipleChoices {
		t.Fatalf("%s: %s", path, created.raw)
	}
	w.waitFor(t, created.token())
	return created.text(field)
}

// waitFor waits until what the consistency token stands for is visible.
func (w world) waitFor(t *testing.T, token string) {
	t.Helper()
	if seen := w.ask(t, w.tokens[admin], "{ __typename }", "Consistency-Token", token); seen.errorCode() != "" {
		t.Fatalf("%s is not visible: %s", token, seen.raw)
	}
}

// newTask creates an import of ada's and waits for its end.
func (w world) newTask(t *testing.T) string {
	t.Helper()
	accepted := w.do(t, w.tokens[admin], "/tasks/import", map[string]any{}, "Content-Type", "application/x-ndjson")
	id := accepted.text("task_id")
	testenv.Eventually(t, 20*time.Second, func() error {
		if got := w.see(t, w.tokens[admin], "/tasks/"+id); got.text("status") != "succeeded" {
			return fmt.Errorf("%d %s", got.status, got.raw)
		}
		return nil
	})
	return id
}

const (
	ok        = "ok"
	noToken   = "401 unauthenticated"
	denied    = "403 forbidden"
	notMember = "403 not_a_member"
	notAdmin  = "403 not_an_admin"
	notThere  = "404 thread_not_found"

	notRegistered = "404 account_not_found"
	notErased     = "409 erasure_off" // for all who may ask; TestAPersonIsForgotten turns erasure on
	noTask        = "404 task_not_found"
)

// The expected outcome of each operation for each actor.
var (
	byAnybody  = []string{noToken, ok, ok, ok, ok, ok, denied, denied}
	byAdmins   = []string{noToken, notMember, notAdmin, ok, notThere, notMember, denied, denied}
	byMembers  = []string{noToken, notMember, ok, ok, notThere, notMember, denied, denied}
	noAccount  = []string{noToken, notRegistered, notRegistered, notRegistered, notRegistered, notRegistered, denied, denied}
	erasureOff = []string{noToken, notErased, notErased, notErased, notErased, notErased, denied, denied}
	byCreator  = []string{noToken, noTask, noTask, ok, noTask, noTask, denied, denied}
	byOperator = []string{noToken, denied, denied, denied, denied, ok, denied, denied}
	noTenant   = []string{noToken, denied, denied, denied, denied, "404 tenant_not_found", denied, denied}
)

var commandRights = map[string]struct {
	body map[string]any // an empty id is replaced by that of the example
	want []string
}{
	// Operations on accounts run in this order: at first no account exists.
	"/accounts/close":             {map[string]any{}, noAccount},
	"/accounts/erase":             {map[string]any{}, erasureOff},
	"/accounts/register":          {map[string]any{"name": "somebody"}, byAnybody},
	"/accounts/rename":            {map[string]any{"name": "somebody else"}, byAnybody},
	"/threads/create":             {map[string]any{"name": "coffee"}, byAnybody},
	"/threads/rename":             {map[string]any{"thread_id": "", "name": "coffee"}, byAdmins},
	"/threads/delete":             {map[string]any{"thread_id": ""}, byAdmins},
	"/threads/add_member":         {map[string]any{"thread_id": "", "user_account_id": dave, "role": "Member"}, byAdmins},
	"/threads/remove_member":      {map[string]any{"thread_id": "", "user_account_id": bob}, []string{noToken, notMember, ok, ok, notThere, notMember, denied, denied}},
	"/threads/change_member_role": {map[string]any{"thread_id": "", "user_account_id": bob, "role": "Admin"}, byAdmins},
	"/threads/post_message":       {map[string]any{"thread_id": "", "text": "hi"}, byMembers},
	"/threads/edit_message":       {map[string]any{"thread_id": "", "message_id": "", "text": "hi"}, []string{noToken, notMember, ok, "403 not_the_sender", notThere, notMember, denied, denied}},
	"/threads/delete_message":     {map[string]any{"thread_id": "", "message_id": ""}, byMembers},
	"/tenants/create":             {map[string]any{"tenant_code": "new"}, byOperator},
	"/tenants/reactivate":         {map[string]any{"tenant_code": "none"}, noTenant},
	"/tenants/suspend":            {map[string]any{"tenant_code": "none"}, noTenant},
	"/tasks/import":               {map[string]any{}, byAnybody},
	"/tasks/export_thread":        {map[string]any{"thread_id": ""}, byAdmins},
	"/tasks/cancel":               {map[string]any{"task_id": ""}, []string{noToken, noTask, noTask, "409 task_finished", noTask, "409 task_finished", denied, denied}},
	"/threads/snapshot":           {map[string]any{"thread_id": ""}, byOperator},
}

// readings are the GET endpoints of the write API.
var readings = map[string][]string{"/tasks/{task_id}": byCreator, "/tasks/{task_id}/result": byCreator}

func TestWhoMayDoWhat(t *testing.T) {
	w := newWorld(t, "threads:read")
	task := w.newTask(t)
	for _, path := range slices.Sorted(maps.Keys(commandRights)) {
		command := commandRights[path]
		for i, actor := range actors {
			body := maps.Clone(command.body)
			for name, value := range w.examples(t, task) {
				if body[name] == "" {
					body[name] = value
				}
			}
			if actor == impostor {
				body["executor_id"] = ada
			}
			var headers []string
			if path == "/tasks/import" {
				headers = append(headers, "Content-Type", "application/x-ndjson")
				if actor == impostor {
					headers = append(headers, "X-Executor-Id", ada)
				}
			}
			got := w.do(t, w.tokens[actor], path, body, headers...)
			expectVerdict(t, path+" as "+actor, got, command.want[i])
		}
	}
	expectAll(t, "commandRights", maps.Keys(commandRights), w.operations(t, "post"))
	for path, want := range readings {
		for i, actor := range actors {
			var headers []string
			if actor == impostor {
				headers = append(headers, "X-Executor-Id", ada)
			}
			expectVerdict(t, path+" as "+actor, w.see(t, w.tokens[actor], strings.ReplaceAll(path, "{task_id}", task), headers...), want[i])
		}
	}
	expectAll(t, "readings", maps.Keys(readings), w.operations(t, "get"))
}

func expectVerdict(t *testing.T, about string, got answer, want string) {
	t.Helper()
	verdict := ok
	if got.status >= 300 {
		verdict = fmt.Sprintf("%d %s", got.status, got.code())
	}
	if verdict != want {
		t.Errorf("%s: got %s, want %s (%s)", about, verdict, want, got.raw)
	}
	if challenge := got.header.Get("WWW-Authenticate"); got.status == http.StatusUnauthorized && !strings.HasPrefix(challenge, "Bearer ") {
		t.Errorf("%s: WWW-Authenticate is %q", about, challenge)
	}
}

// see sends a GET request.
func (r *running) see(t *testing.T, token, path string, headers ...string) answer {
	t.Helper()
	got, err := send(t, http.MethodGet, r.write+path, "", append(headers, authorization(token)...))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// operations returns the documented paths with the method.
func (w world) operations(t *testing.T, method string) []string {
	t.Helper()
	got, err := send(t, http.MethodGet, w.write+"/openapi.json", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct{ Security []map[string]any }
	}
	if err := json.Unmarshal([]byte(got.raw), &doc); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for path, methods := range doc.Paths {
		op, has := methods[method]
		switch {
		case !has:
		case len(op.Security) > 0:
			paths = append(paths, path)
		case method == "post":
			t.Errorf("%s: the document does not say that it needs a token", path)
		}
	}
	return paths
}

// expectAll checks that the named table has a row for every existing operation, and no other.
func expectAll(t *testing.T, table string, have func(func(string) bool), there []string) {
	t.Helper()
	rows := slices.Collect(have)
	for _, operation := range there {
		if !slices.Contains(rows, operation) {
			t.Errorf("%s is missing: add a row to %s", operation, table)
		}
	}
	for _, operation := range rows {
		if !slices.Contains(there, operation) {
			t.Errorf("%s does not exist: remove its row from %s", operation, table)
		}
	}
}

// The expected outcome of each field of Query and Subscription for each actor.
var (
	bySeers    = []string{"UNAUTHENTICATED", "NOT_FOUND", "", "", "NOT_FOUND", "NOT_FOUND", "FORBIDDEN", "FORBIDDEN"}
	byAuditors = []string{"UNAUTHENTICATED", "NOT_FOUND", "FORBIDDEN", "", "NOT_FOUND", "NOT_FOUND", "FORBIDDEN", "FORBIDDEN"}
	byOwner    = []string{"UNAUTHENTICATED", "NOT_FOUND", "NOT_FOUND", "", "NOT_FOUND", "NOT_FOUND", "FORBIDDEN", "FORBIDDEN"}
	// every actor gets a list, which may be empty
	byAll = []string{"UNAUTHENTICATED", "", "", "", "", "", "FORBIDDEN", "FORBIDDEN"}
	// getMember's argument names the account that is queried, so an impostor is a stranger here.
	byMember = []string{"UNAUTHENTICATED", "NOT_FOUND", "", "", "NOT_FOUND", "NOT_FOUND", "NOT_FOUND", "FORBIDDEN"}
)

// rootField holds a field's arguments and their expected outcomes. {viewer} and the names of the examples are replaced.
type rootField struct {
	arguments string
	want      []string
}

var queryFields = map[string]rootField{
	"getAccount":      {`accountId: "` + ada + `"`, []string{"UNAUTHENTICATED", "", "", "", "NOT_FOUND", "", "", "FORBIDDEN"}},
	"getThread":       {`threadId: "{thread_id}" {viewer}`, bySeers},
	"getThreadByCode": {`code: "{code}" {viewer}`, bySeers},
	"getThreads":      {`first: 3 {viewer}`, byAll},
	"getMember":       {`threadId: "{thread_id}" {viewer}`, byMember},
	"getMembers":      {`threadId: "{thread_id}" {viewer}`, bySeers},
	"getMessage":      {`messageId: "{message_id}" {viewer}`, bySeers},
	"getMessages":     {`threadId: "{thread_id}" {viewer}`, bySeers},
	"getTask":         {`taskId: "{task_id}" {viewer}`, byOwner},
	"tasks":           {`first: 3 {viewer}`, byAll},
	"tenants":         {`first: 3`, []string{"UNAUTHENTICATED", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN", "", "FORBIDDEN", "FORBIDDEN"}},
	"threads":         {`first: 3 {viewer}`, byAll},
	"accountHistory":  {`accountId: "` + ada + `"`, []string{"UNAUTHENTICATED", "FORBIDDEN", "FORBIDDEN", "", "NOT_FOUND", "", "FORBIDDEN", "FORBIDDEN"}},
	"threadHistory":   {`threadId: "{thread_id}" {viewer}`, byAuditors},
	"threadAt":        {`threadId: "{thread_id}" version: 1 {viewer}`, byAuditors},
}

var subscriptionFields = map[string]rootField{
	"taskChanged":   {`taskId: "{task_id}" {viewer}`, byOwner},
	"threadChanged": {`threadId: "{thread_id}" {viewer}`, bySeers},
}

func (f rootField) of(examples map[string]string, actor string) string {
	viewer := ""
	if actor == impostor {
		viewer = `userAccountId: "` + ada + `"`
	}
	arguments := strings.ReplaceAll(f.arguments, "{viewer}", viewer)
	for name, value := range examples {
		arguments = strings.ReplaceAll(arguments, "{"+name+"}", value)
	}
	return arguments
}

// withThread are the queries whose answers contain the thread's id.
var withThread = []string{"getThread", "getThreadByCode", "getThreads", "getMember", "getMembers", "getMessage", "getMessages", "threads"}

func TestWhoMaySeeWhat(t *testing.T) {
	w := newWorld(t, "threads:write")
	schema := w.introspect(t)
	w.create(t, "/accounts/register", map[string]any{"name": "Ada"}, "account_id")
	examples := w.examples(t, "")
	examples["task_id"] = w.create(t, "/tasks/export_thread", map[string]any{"thread_id": examples["thread_id"]}, "task_id")
	for name, field := range queryFields {
		for i, actor := range actors {
			document := fmt.Sprintf("{ %s(%s) %s }", name, field.of(examples, actor), schema.selection(schema.typeOf("Query", name), 5))
			got := w.ask(t, w.tokens[actor], document)
			if code := got.errorCode(); code != field.want[i] {
				t.Errorf("%s as %s: got %q, want %q (%s)", name, actor, code, field.want[i], got.raw)
			}
			sees := strings.Contains(got.raw, examples["thread_id"])
			if maySee := slices.Contains(withThread, name) && field.want[i] == "" && (actor == member || actor == admin); sees != maySee {
				t.Errorf("%s as %s: sees the thread: %t (%s)", name, actor, sees, got.raw)
			}
		}
	}
	for name, field := range subscriptionFields {
		for i, actor := range actors {
			document := fmt.Sprintf("subscription { %s(%s) %s }", name, field.of(examples, actor), schema.selection(schema.typeOf("Subscription", name), 5))
			if code := w.firstEvent(t, w.tokens[actor], document); code != field.want[i] {
				t.Errorf("%s over SSE as %s: got %q, want %q", name, actor, code, field.want[i])
			}
			if code := w.firstMessage(t, w.tokens[actor], document); code != field.want[i] {
				t.Errorf("%s over a WebSocket as %s: got %q, want %q", name, actor, code, field.want[i])
			}
		}
	}
	expectAll(t, "queryFields", maps.Keys(queryFields), schema.fields("Query"))
	expectAll(t, "subscriptionFields", maps.Keys(subscriptionFields), schema.fields("Subscription"))
}

// A request may name the token's account.
func TestTheOwnAccountMayBeNamed(t *testing.T) {
	w := newWorld(t, usual)
	thread := w.newThread(t)
	named := w.do(t, w.tokens[member], "/threads/post_message",
		map[string]any{"executor_id": map[string]string{"value": bob}, "thread_id": thread.id, "text": "hi"}, "X-Tenant-Code", acme)
	expectVerdict(t, "the token's account and tenant", named, ok)
	seen := w.ask(t, w.tokens[member], fmt.Sprintf(`{ getThread(threadId: %q, userAccountId: %q) { id } }`, thread.id, bob), "X-Tenant-Code", acme, "Consistency-Token", thread.id+":4")
	if code := seen.errorCode(); code != "" {
		t.Errorf("naming the token's account and tenant: %s", seen.raw)
	}
	for about, got := range map[string]answer{
		"a command": w.do(t, w.tokens[member], "/threads/post_message", map[string]any{"thread_id": thread.id, "text": "hi"}, "X-Tenant-Code", "other"),
		"a query":   w.ask(t, w.tokens[member], fmt.Sprintf(`{ getThread(threadId: %q) { id } }`, thread.id), "X-Tenant-Code", "other"),
	} {
		if got.status != http.StatusForbidden || got.code() != "forbidden" && got.errorCode() != "FORBIDDEN" {
			t.Errorf("%s with another tenant: %d %s", about, got.status, got.raw)
		}
	}
	if got := w.ask(t, w.tokens[member], fmt.Sprintf(`query($me: ID) { getThread(threadId: %q, userAccountId: $me) { id } }`, thread.id)); got.errorCode() != "" {
		t.Errorf("naming the account null: %s", got.raw)
	}
}

// Imports and process managers act for other accounts.
func TestAServiceActsForOthers(t *testing.T) {
	w := newWorld(t, usual)
	thread := w.newThread(t)
	service := w.token(t, dave, acme, usual+" act_as")
	posted := w.do(t, service, "/threads/post_message", map[string]any{"executor_id": bob, "thread_id": thread.id, "text": "imported"})
	expectVerdict(t, "in the service's tenant", posted, ok)
	elsewhere := w.token(t, dave, "other", usual+" act_as")
	expectVerdict(t, "in another tenant",
		w.do(t, elsewhere, "/threads/post_message", map[string]any{"executor_id": bob, "thread_id": thread.id, "text": "imported"}), notThere)
}

// An account may be written as a UUID, both in the token and in the body.
func TestAccountsAsUUIDs(t *testing.T) {
	w := newWorld(t, usual)
	const uuid, ulid = "01890535-c59c-72d5-08a8-dcea316374c8", "01H42KBHCWEBAGHA6WX8RP6X68"
	created := w.do(t, w.token(t, uuid, acme, usual), "/threads/create", map[string]any{"name": "tea", "executor_id": ulid})
	expectVerdict(t, "the same account in two forms", created, ok)
	testenv.Eventually(t, 10*time.Second, func() error {
		if got := w.ask(t, w.token(t, ulid, acme, usual), `{ threads { edges { node { ownerId } } } }`); !strings.Contains(got.raw, ulid) {
			return fmt.Errorf("the account as a ULID is not the owner: %s", got.raw)
		}
		return nil
	})
}

func TestTokensThatSayTooLittle(t *testing.T) {
	w := newWorld(t, usual)
	for about, c := range map[string]struct{ token, want string }{
		"no account":      {w.token(t, "", acme, usual), noToken},
		"no id":           {w.token(t, "ada", acme, usual), noToken},
		"a strange code":  {w.token(t, ada, "Acme!", usual), noToken},
		"no scopes":       {w.token(t, ada, acme, ""), denied},
		"a similar scope": {w.token(t, ada, acme, "threads:writes"), denied},
		"expired":         {w.tokenFor(t, ada, acme, usual, -time.Minute), noToken},
		"junk":            {"x.y.z", noToken},
	} {
		expectVerdict(t, about, w.do(t, c.token, "/threads/create", map[string]any{"name": "tea"}), c.want)
		code := map[string]string{noToken: "UNAUTHENTICATED", denied: "FORBIDDEN"}[c.want]
		if got := w.ask(t, c.token, `{ threads { edges { cursor } } }`); got.errorCode() != code {
			t.Errorf("%s: a query is answered with %s", about, got.raw)
		}
	}
	twice, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.write+"/threads/create", strings.NewReader(`{"name":"tea"}`))
	if err != nil {
		t.Fatal(err)
	}
	twice.Header["Authorization"] = []string{"Bearer " + w.tokens[admin], "Bearer " + w.tokens[member]}
	twice.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(twice)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("two tokens: %s", response.Status)
	}
}

func TestPagesAndHealthNeedNoToken(t *testing.T) {
	w := newWorld(t, usual)
	for _, url := range []string{
		w.write + "/", w.write + "/docs", w.write + "/openapi.json", w.write + "/health/alive", w.write + "/health/ready", w.write + "/metrics",
		w.read + "/", w.read + "/health/alive", w.read + "/health/ready", w.read + "/metrics",
	} {
		if got, err := send(t, http.MethodGet, url, "", nil); err != nil || got.status != http.StatusOK {
			t.Errorf("%s: %d, %v", url, got.status, err)
		}
	}
}

func (a answer) code() string { code, _ := a.body["code"].(string); return code }

// do sends a command. An empty token sends no Authorization header.
func (r *running) do(t *testing.T, token, path string, body map[string]any, headers ...string) answer {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := send(t, http.MethodPost, r.write+path, string(encoded), append(headers, authorization(token)...))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// errorCode returns extensions.code of a GraphQL response's first error; empty: no error.
func (a answer) errorCode() string {
	var decoded struct {
		Errors []struct {
			Extensions struct{ Code string }
		}
	}
	_ = json.Unmarshal([]byte(a.raw), &decoded)
	if len(decoded.Errors) == 0 {
		return ""
	}
	return decoded.Errors[0].Extensions.Code
}
