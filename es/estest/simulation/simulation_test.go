package simulation

import "testing"

func TestSchedules(t *testing.T) { Schedules(t, "es/estest/simulation", 300, nil) }

func TestASeedTellsOneStory(t *testing.T) { OneStory(t, nil) }

func TestMutationsAreFound(t *testing.T) { MutationsAreFound(t, "../..") }
