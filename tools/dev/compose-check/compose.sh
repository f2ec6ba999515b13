# Docker Compose, v2 or 1.29, as one command. Sourced by run.sh and system.sh, after say.sh.

compose() {
	"${compose_command[@]}" "$@"
}

# Sets compose_command to the installed Compose.
obtain_compose() {
	if docker compose version >/dev/null 2>&1; then
		compose_command=(docker compose)
	elif command -v docker-compose >/dev/null; then
		compose_command=(docker-compose)
	else
		fail "there is no Docker Compose: install its plugin (docker compose) or docker-compose 1.29"
	fi
}

# All programs are in one image, so building it for one of them is enough.
compose_build() {
	compose build write-api
}

# Starts the system and returns when every container with a health check is healthy. Compose 1.29 has no --wait.
compose_up() {
	compose up --detach --no-build --remove-orphans || fail "the system did not start: see its log above, or docker ps --all"
	local deadline=$((SECONDS + 180)) waiting
	until waiting=$(containers_not_healthy) && [[ -z $waiting ]]; do
		((SECONDS < deadline)) || fail "not healthy after 180 s: ${waiting:-Docker does not answer}"
		sleep 1
	done
}

containers_not_healthy() {
	compose ps --quiet | xargs docker inspect \
		--format '{{with .State.Health}}{{if ne .Status "healthy"}}{{$.Name}} is {{.Status}}; {{end}}{{end}}' | tr -d '\n'
}
