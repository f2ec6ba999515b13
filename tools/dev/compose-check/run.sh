#!/bin/bash
# Runs docker-compose.yml for real and the end-to-end tests against it. See usage below.
set -euo pipefail

usage() {
	cat <<'HELP'
Usage: tools/dev/compose-check/run.sh [--clean]      (make compose-check)

Builds the image, starts the system of docker-compose.yml as a project of its own (threads-compose-check) on free ports of
127.0.0.1, runs the end-to-end tests against it and removes its containers, networks and volumes again. It does not touch
what `make up` has started.

Docker:   uses the daemon that answers. Where none does, root on Debian gets one for the time of the run, with a socket and
          a data folder of its own; docker.io, docker-compose and debootstrap are installed with apt-get when they are missing.
          The iptables rules and the bridge docker0 that such a daemon makes stay, as after every stop of Docker.
Compose:  docker compose (v2) where it is installed, docker-compose (1.29) otherwise.
Images:   pulled where they can be. For those that cannot, root on Debian builds stand-ins from Debian's packages, from this
          machine's Go and from the DynamoDB Local that make test uses. They have the tag of the original for the time of
          the run and stay as threads-stand-in/... afterwards.
Cache:    ${XDG_CACHE_HOME:-~/.cache}/threads-dev/compose-check

  --clean        removes stand-ins and cache after the run, too
  --help         this text
  DEBIAN_MIRROR  where debootstrap finds Debian (where it looks by itself)

Exit code: 0 when the end-to-end tests have passed, 1 when something failed, 2 when the usage was wrong.
HELP
}

cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
here=tools/dev/compose-check
said_by=compose-check
cache=${XDG_CACHE_HOME:-$HOME/.cache}/threads-dev/compose-check
clean=no
case "${1:-}" in
-h | --help) usage && exit 0 ;;
--clean) clean=yes && shift ;;
esac
[[ $# == 0 ]] || { usage >&2 && exit 2; }

. $here/say.sh
. $here/compose.sh
. $here/daemon.sh
. $here/standins.sh

finish() {
	local code=$?
	trap - EXIT INT TERM
	if ((code != 0)) && [[ -n ${started:-} ]]; then
		compose ps || true
		compose logs --no-color --tail=40 || true
	fi
	if [[ -n ${daemon_ready:-} ]]; then
		say "removing containers, networks and volumes"
		compose down --volumes --remove-orphans --timeout 10 >/dev/null 2>&1 || true
		untag_stand_ins
		docker image prune --force --filter "label=$label" >/dev/null # those that a new one has replaced
		if [[ -n ${own_daemon:-} ]]; then                            # what builds have left; the latest are their cache
			docker container prune --force >/dev/null
			docker image prune --force --filter until=48h >/dev/null
		fi
		[[ $clean == no ]] || remove_stand_ins
	fi
	stop_daemon
	[[ $clean == no ]] || rm -rf "$cache"
	exit "$code"
}

# The first port from $1 on that nobody listens on.
free_port() {
	local port=$1
	while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
	echo "$port"
}

mkdir -p "$cache"
exec 9>"$cache.lock"
flock --nonblock 9 || fail "another compose-check is running: wait until it has ended"
trap finish EXIT
trap 'exit 1' INT TERM

export COMPOSE_PROJECT_NAME=threads-compose-check COMPOSE_FILE=docker-compose.yml
WRITE_API_PORT=$(free_port 38080) UPDATER_PORT=$(free_port 38180) READ_API_PORT=$(free_port 38280)
DEV_DYNAMODB_PORT=$(free_port 38380) DEV_MYSQL_PORT=$(free_port 38480)
export WRITE_API_PORT UPDATER_PORT READ_API_PORT DEV_DYNAMODB_PORT DEV_MYSQL_PORT

obtain_daemon
obtain_compose
daemon_ready=yes
compose down --volumes --remove-orphans --timeout 10 >/dev/null 2>&1 # what a run that was killed has left
obtain_images

started=yes
say "building the image"
compose_build >"$cache/build.log" 2>&1 || { tail -n 40 "$cache/build.log" >&2 && fail "the image can't be built"; }
say "built threads:dev, $(($(docker image inspect --format '{{.Size}}' threads:dev) / 1000000)) MB"
say "starting the system"
compose_up
say "the system is ready; running the end-to-end tests"
export E2E_WRITE_API_URL=http://127.0.0.1:$WRITE_API_PORT
export E2E_UPDATER_URL=http://127.0.0.1:$UPDATER_PORT
export E2E_READ_API_URL=http://127.0.0.1:$READ_API_PORT
go test -v -count=1 -timeout=15m ./tests/e2e/...
say "passed"
