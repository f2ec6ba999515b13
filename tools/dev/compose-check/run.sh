#!/bin/bash
# Runs docker-compose.yml with real containers and the end-to-end tests against it. See usage below.
set -euo pipefail

usage() {
	cat <<'HELP'
Usage: tools/dev/compose-check/run.sh [--clean]      (make compose-check)

Builds the image, starts the system of docker-compose.yml as a separate project (threads-compose-check) on free ports
of 127.0.0.1, runs the end-to-end tests against it, starts it again with the profiles auth and publish, and removes its
containers, networks and volumes. The system of `make up` is not affected.

Docker:   uses a running daemon. Without one, root on Debian starts a daemon for this run, with a socket and a data
          folder of its own; docker.io, docker-compose and debootstrap are installed with apt-get if missing. The
          iptables rules and the bridge docker0 of that daemon stay, as after every stop of Docker.
Compose:  docker compose (v2) if installed, otherwise docker-compose (1.29).
Images:   pulled if possible. For the others, root on Debian builds stand-ins from Debian's packages, this machine's
          Go and the DynamoDB Local of make test. They have the originals' tags during the run, and stay as
          threads-stand-in/...
Cache:    ${XDG_CACHE_HOME:-~/.cache}/threads-dev/compose-check

  --clean        also removes stand-ins and cache after the run
  --help         prints this text
  DEBIAN_MIRROR  Debian mirror for debootstrap (default: debootstrap's)

Exit code: 0 the end-to-end tests passed, 1 failure, 2 wrong usage.
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
. $here/profiles.sh

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
		docker image prune --force --filter "label=$label" >/dev/null # images that a new one has replaced
		if [[ -n ${own_daemon:-} ]]; then                            # leftovers of builds; recent ones are their cache
			docker container prune --force >/dev/null
			docker image prune --force --filter until=48h >/dev/null
		fi
		[[ $clean == no ]] || remove_stand_ins
	fi
	stop_daemon
	[[ $clean == no ]] || rm -rf "$cache"
	exit "$code"
}

# The first free port from $1 on.
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
WEB_PORT=$(free_port 38580) DEV_ISSUER_PORT=$(free_port 38680) NATS_PORT=$(free_port 38780)
export WRITE_API_PORT UPDATER_PORT READ_API_PORT WEB_PORT DEV_DYNAMODB_PORT DEV_MYSQL_PORT DEV_ISSUER_PORT NATS_PORT

obtain_daemon
obtain_compose
daemon_ready=yes
COMPOSE_PROFILES=auth,publish compose down --volumes --remove-orphans --timeout 10 >"$cache/down.log" 2>&1 ||
	fail "what a killed run left can't be removed: see $cache/down.log"
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
say "the profiles auth and publish"
check_profiles
say "passed"
