package tasks

import (
	"context"
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase/chat"
)

// exportBytes is the size at which a part of the result is stored.
const exportBytes = 256 << 10

// exportThread writes the remaining events as they are in the journal. The creator must still be an Admin.
func (r *run) exportThread(ctx context.Context) error {
	id, err := ident.Parse[thread.Thread](r.Request.Subject)
	if err != nil {
		return err
	}
	if err := r.ports.checkExport(ctx, r.caller, id); err != nil {
		return err
	}
	key := chat.ThreadKey(r.Tenant, id)
	progress := r.Progress
	if progress.Total == 0 {
		head, err := r.ports.Events.Head(ctx, key)
		if err != nil {
			return err
		}
		progress.Total = head.Version
	}
	var content []byte
	for event, err := range r.ports.Events.Entries(ctx, key, progress.Done, progress.Total) {
		if err != nil {
			return fmt.Errorf("read the events of the thread: %w", err)
		}
		content = append(append(content, event.Payload...), '\n')
		progress.Done++
		if len(content) < exportBytes && progress.Done < progress.Total {
			continue
		}
		if err := r.ports.put(ctx, r.file(resultFile), progress.Parts, content); err != nil {
			return err
		}
		content = content[:0]
		progress.Parts++
		if err := r.finishedPart(ctx, progress); err != nil {
			return err
		}
	}
	return nil
}
