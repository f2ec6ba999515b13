#!/bin/bash
# Starts and stops the system of docker-compose.yml (make up, make down), with any version of Compose.
#
#   system.sh up     builds the image, starts the system and returns when it is ready
#   system.sh down   stops it and keeps its data
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
. tools/dev/compose-check/say.sh
. tools/dev/compose-check/compose.sh

obtain_compose
case "${1:-}" in
up)
	compose_build
	compose_up
	cat <<END
open in a browser   http://127.0.0.1:${WEB_PORT:-28083}/

write-api           http://127.0.0.1:${WRITE_API_PORT:-28080}/docs
read-model-updater  http://127.0.0.1:${UPDATER_PORT:-28081}/health/ready
read-api            http://127.0.0.1:${READ_API_PORT:-28082}/
END
	;;
down) compose down ;;
*) fail "usage: tools/dev/compose-check/system.sh up|down" ;;
esac
