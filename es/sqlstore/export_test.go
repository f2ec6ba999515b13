package sqlstore

// Waiting returns how many changes wait for the next group.
func (g *Gateway) Waiting() int {
	w := g.writer.(*groupWriter)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.waiting)
}

// Writing reports whether a group is being written.
func (g *Gateway) Writing() bool {
	w := g.writer.(*groupWriter)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.working && len(w.waiting) == 0
}
