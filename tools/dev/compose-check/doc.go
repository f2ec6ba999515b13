// Package compose checks docker-compose.yml and the Dockerfile without running them; `make compose-check` runs them. It
// loads the file with the compose specification's own library, like docker compose.
package compose
