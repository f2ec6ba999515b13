package main

import (
	"testing"

	"example.com/threads/es/estest/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }
