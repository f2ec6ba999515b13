package projectionstore

import "context"

// CountParked tells how many threads are parked, for operators.
func (s *Store) CountParked(ctx context.Context) (int, error) {
	var parked int
	if err := s.db.GetContext(ctx, &parked, "SELECT COUNT(*) FROM dead_letters"); err != nil {
		return 0, s.classified("count the parked threads", err)
	}
	return parked, nil
}
