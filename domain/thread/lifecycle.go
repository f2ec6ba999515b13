package thread

func (t Thread) create(c Create) (Event, error) {
	if t.created {
		return nil, ErrThreadExists
	}
	creator := Member{ID: c.Member, User: c.Executor, Role: RoleAdmin}
	return Created{Name: c.Name, Members: []Member{creator}}, nil
}

func (t Thread) rename(c Rename) (Event, error) {
	if err := t.mustBeAdmin(c.Executor); err != nil {
		return nil, err
	}
	if t.name == c.Name {
		return nil, ErrNameUnchanged
	}
	return Renamed{Name: c.Name}, nil
}

func (t Thread) delete(c Delete) (Event, error) {
	if err := t.mustBeAdmin(c.Executor); err != nil {
		return nil, err
	}
	return Deleted{}, nil
}
