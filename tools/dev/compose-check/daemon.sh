# A Docker daemon for run.sh: a running one, or one that is started for this run. Sourced by run.sh.

run_folder=/run/threads-compose-check

# Sets DOCKER_HOST and own_daemon if it starts a daemon.
obtain_daemon() {
	if command -v docker >/dev/null && docker info >/dev/null 2>&1; then
		say "using the Docker daemon that is running"
	else
		start_daemon
	fi
}

start_daemon() {
	((EUID == 0)) || fail "no Docker daemon answers: start Docker, or run this as root on Debian"
	install_packages dockerd:docker.io docker-compose:docker-compose iptables:iptables
	mkdir -p "$run_folder"
	own_daemon=yes
	export DOCKER_HOST=unix://$run_folder/docker.sock
	if ! docker info >/dev/null 2>&1; then # else it is the one of a run that was killed
		say "starting a Docker daemon; its log is $cache/dockerd.log"
		setsid dockerd --host "$DOCKER_HOST" --data-root "$cache/docker" --exec-root "$run_folder/exec" \
			--pidfile "$run_folder/docker.pid" >"$cache/dockerd.log" 2>&1 9>&- &
		local deadline=$((SECONDS + 60))
		until docker info >/dev/null 2>&1; do
			((SECONDS < deadline)) || fail "the Docker daemon did not start: see $cache/dockerd.log"
			sleep 0.5
		done
	fi
}

stop_daemon() {
	[[ -n ${own_daemon:-} ]] || return 0
	say "stopping the Docker daemon"
	local pid deadline=$((SECONDS + 60))
	if pid=$(cat "$run_folder/docker.pid" 2>/dev/null); then
		kill "$pid" 2>/dev/null || true
		while kill -0 "$pid" 2>/dev/null && ((SECONDS < deadline)); do sleep 0.2; done
	fi
	umount "$run_folder"/exec/netns/* 2>/dev/null || true # the daemon forgets that of its own network
	rm -rf "$run_folder"
}

# Installs packages, given as command:package, if the command is missing.
install_packages() {
	local pair missing=()
	for pair in "$@"; do
		command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
	done
	((${#missing[@]} > 0)) || return 0
	command -v apt-get >/dev/null || fail "install ${missing[*]}: this machine has no apt-get to do it with"
	say "installing ${missing[*]} with apt-get"
	{
		apt-get -o DPkg::Lock::Timeout=600 -qq update &&
			DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -qq install -y --no-install-recommends "${missing[@]}"
	} >"$cache/apt.log" 2>&1 || fail "apt-get failed: see $cache/apt.log"
}
