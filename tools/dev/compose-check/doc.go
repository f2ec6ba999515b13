// Package compose holds docker-compose.yml and the Dockerfile to what they promise, without running them: `make
// compose-check` does that. It loads the file as docker compose does, with the compose specification's own library.
package compose
