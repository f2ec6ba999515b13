package dev

import (
	"context"
	"path/filepath"
	"slices"

	"example.com/threads/tools/devservices/internal/install"
	"example.com/threads/tools/devservices/internal/launch"
)

// Manager starts and stops the development system.
type Manager struct {
	Settings     Settings
	Progress     install.Progress
	PreferDocker bool
}

// Up starts what does not run, brings tables and schema to their present state, and returns when
// everything is ready.
func (m Manager) Up(ctx context.Context) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := m.startServices(ctx); err != nil {
		return err
	}
	if err := m.Migrate(ctx); err != nil {
		return err
	}
	for _, member := range m.programs() {
		if err := m.ensure(ctx, member); err != nil {
			return err
		}
	}
	return nil
}

// Services starts the two services alone.
func (m Manager) Services(ctx context.Context) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return m.startServices(ctx)
}

// Down stops what Up started, programs first, and leaves the data.
func (m Manager) Down(ctx context.Context) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	members := append(m.services(), m.programs()...)
	slices.Reverse(members)
	for _, member := range members {
		stopped, err := m.background().Stop(member.known)
		if err != nil {
			return err
		}
		if stopped {
			m.Progress("%s stopped", member.known.Name)
		} else {
			m.Progress("%s was not running", member.known.Name)
		}
	}
	return nil
}

func (m Manager) lock(ctx context.Context) (unlock func(), err error) {
	return install.Lock(ctx, filepath.Join(m.Settings.Folder(), "lock"), m.Progress)
}

func (m Manager) background() launch.Background {
	return launch.Background{Folder: m.Settings.Folder()}
}
