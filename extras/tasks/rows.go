package tasks

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/rowstore/table"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/usecase/query"
)

// Row is the row of a task. Only its creator sees it.
type Row struct {
	Tenant        es.Tenant   `db:"tenant_code"`
	ID            task.ID     `db:"id"`
	Kind          task.Kind   `db:"kind"`
	Status        task.Status `db:"status"`
	task.Progress             // without Parts in the table
	Message       string      `db:"message"` // why it failed; otherwise empty
	Version       uint64      `db:"version"` // the seq_nr of the last event in the row
	CreatedAt     time.Time   `db:"created_at"`
	UpdatedAt     time.Time   `db:"updated_at"`
	query.Audit
}

// Position returns the task's position in the list of its creator's tasks; it never changes.
func (r Row) Position() query.Position {
	return query.Position{At: r.CreatedAt.UnixMicro(), ID: r.ID.String()}
}

// Finished reports whether the task's status is final.
func (r Row) Finished() bool {
	return errors.Is(task.Task{Status: r.Status}.Usable(), task.ErrTaskFinished)
}

const (
	rowsVersion                 = 2    // rises with every change that makes other rows of the same events
	maxMessage                  = 1000 // bytes
	cursors     graphql.Cursors = "tasks"
)

var Rows = table.Of[Row]("tasks", 2)

//go:embed migrations/*/*.sql
var migrations embed.FS

// Schema returns the schema of [Rows], for the database of the read model.
func Schema() migration.Set {
	return migration.Set{Name: "tasks", Table: "tasks_migrations", Files: migrations, Folder: "migrations"}
}

// Handler returns what keeps [Rows], for the projection of the read model.
func Handler() projection.Handler { return rowstore.OneRow(Rows, task.Events(), rowsVersion, next) }

// next is the row after an event of its task. Events between the first and this one may be missing.
func next(row Row, exists bool, recorded es.Recorded[task.Event]) (Row, error) {
	by, err := query.AuditOf(recorded.Envelope)
	id, idErr := ident.Parse[task.Task](recorded.AggregateID)
	if err := cmp.Or(err, idErr); err != nil {
		return row, err
	}
	before := task.Task{Status: row.Status, Progress: row.Progress}
	switch created, begins := recorded.Event.(task.Created); {
	case begins && exists:
		return row, errors.New("the task exists already")
	case begins:
		by.CreatedBy = created.Creator
		row = Row{Tenant: recorded.Tenant, ID: id, Kind: created.Kind, CreatedAt: recorded.OccurredAt, Audit: by}
	case before.Usable() != nil:
		return row, before.Usable()
	}
	after := before.Apply(recorded.Event)
	row.Status, row.Progress = after.Status, after.Progress
	if finished, ends := recorded.Event.(task.Finished); ends {
		row.Message = finished.Message
		if len(row.Message) > maxMessage {
			row.Message = strings.ToValidUTF8(row.Message[:maxMessage], "")
		}
	}
	row.Version, row.UpdatedAt, row.Audit = recorded.SeqNr, recorded.OccurredAt, query.ChangedBy(by, row.Audit)
	return row, nil
}

// Unfinished returns [Ports.Unfinished] of the rows.
func Unfinished(db *sqlx.DB) func(ctx context.Context, kinds []task.Kind, without []es.Tenant, limit int) ([]es.AggregateID, error) {
	return func(ctx context.Context, kinds []task.Kind, without []es.Tenant, limit int) (keys []es.AggregateID, err error) {
		query, args, err := sqlx.In("SELECT "+Rows.List("t")+" FROM tasks t WHERE t.status IN (?) AND t.kind IN (?) AND t.tenant_code NOT IN (?) "+
			"ORDER BY t.created_at, t.id LIMIT ?", []task.Status{task.Queued, task.Running}, kinds, append(without[:len(without):len(without)], "no tenant"), limit)
		if err == nil {
			err = Rows.Query(ctx, db, func(row Row) { keys = append(keys, task.Key(row.Tenant, row.ID)) }, query, args...)
		}
		return keys, database.Explain("look for tasks to do", err)
	}
}

// The schema's connection of tasks and its edges.
type (
	TaskConnection = graphql.Connection[Task]
	TaskEdge       = graphql.Edge[Task]
)

type Task struct {
	Row
	ID, TaskID, Kind, Status, CreatedBy string
}

func shownTask(t Row) Task {
	return Task{t, t.ID.String(), t.ID.String(), string(t.Kind), string(t.Status), t.CreatedBy.String()}
}

// TaskResolver resolves the fields of Query and Subscription in tasks.graphqls.
type TaskResolver struct {
	Tables  *queryreader.Reader
	Changes *query.Queries // report changes
}

func (r TaskResolver) GetTask(ctx context.Context, taskID, userAccountID string) (Task, error) {
	viewer, id, err := viewerAndTask(ctx, userAccountID, taskID)
	if err != nil {
		return Task{}, err
	}
	found, err := Find(ctx, r.Tables, viewer, id)
	return shownTask(found), err
}

// Tasks resolves Query.tasks: the viewer's, latest first.
func (r TaskResolver) Tasks(ctx context.Context, userAccountID string, first *int, after *string) (TaskConnection, error) {
	viewer, err := graphql.ViewerOf(ctx, userAccountID)
	asked, pageErr := graphql.Forward(cursors, first, after)
	if err := cmp.Or(err, pageErr); err != nil {
		return TaskConnection{}, err
	}
	page, err := queryreader.Page(ctx, r.Tables, shown, ofCreator, asked, viewer.Tenant.String(), viewer.User.String())
	return graphql.NewConnection(cursors, page, shownTask), err
}

// TaskChanged resolves Subscription.taskChanged: the current state, and each later one until the task is finished.
func (r TaskResolver) TaskChanged(ctx context.Context, taskID, userAccountID string) (<-chan Task, error) {
	viewer, id, err := viewerAndTask(ctx, userAccountID, taskID)
	if err != nil {
		return nil, err
	}
	read := func(ctx context.Context) (Row, uint64, error) {
		found, err := Find(ctx, r.Tables, viewer, id)
		return found, found.Version, err
	}
	changes := func(yield func(Row, error) bool) {
		for seen, err := range query.Changes(ctx, r.Changes, task.Key(viewer.Tenant, id), read) {
			if !yield(seen, err) || seen.Finished() {
				return
			}
		}
	}
	return graphql.Stream(ctx, changes, shownTask), nil
}

func viewerAndTask(ctx context.Context, userAccountID, taskID string) (query.Viewer, task.ID, error) {
	viewer, err := graphql.ViewerOf(ctx, userAccountID)
	id, idErr := graphql.ParseID[task.Task]("taskId", taskID)
	return viewer, id, cmp.Or(err, idErr)
}

// shown are the columns that an API shows.
var shown = Rows.Without("created_ip", "updated_ip", "request_id", "source")

var ofCreator = queryreader.List{
	Columns: shown.List("t"), From: `FROM tasks t WHERE t.tenant_code = ? AND t.created_by = ?`, At: "t.created_at", ID: "t.id", Descending: true,
}

// Find returns a task of the viewer's, or [task.ErrTaskNotFound].
func Find(ctx context.Context, tables *queryreader.Reader, viewer query.Viewer, id task.ID) (Row, error) {
	return queryreader.One(ctx, tables, shown, task.ErrTaskNotFound,
		`SELECT `+shown.List("t")+` FROM tasks t WHERE t.tenant_code = ? AND t.id = ? AND t.created_by = ?`,
		viewer.Tenant.String(), id.String(), viewer.User.String())
}

// Versions lets consistency tokens name tasks.
func Versions(tables *queryreader.Reader) query.Awaitable {
	return query.Awaitable{Type: task.AggregateType, Shows: func(ctx context.Context, viewer query.Viewer, id string) error {
		parsed, err := ident.Parse[task.Task](id)
		if err == nil {
			_, err = Find(ctx, tables, viewer, parsed)
		}
		return err
	}}
}
