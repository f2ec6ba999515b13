# Stand-ins for images that cannot be pulled. Sourced by run.sh.
#
# A stand-in is named threads-stand-in/<original>. During the run it also has the original's name. Afterwards that name
# is removed, so that a machine that can pull the original later does so.

base=threads-stand-in/debian:bookworm-slim
label=com.example.threads.stand-in

# Ensures that every image of the Dockerfile and the compose file is present.
obtain_images() {
	local image
	for image in $(
		sed -nE 's/^FROM (golang:[^ ]+).*/\1/p' Dockerfile
		sed -nE 's/^ +image: ((mysql|amazon\/dynamodb-local|nats):[^ ]+).*/\1/p' docker-compose.yml
	); do
		if docker image inspect "$image" >/dev/null 2>&1 && ! is_stand_in "$image"; then
			say "$image is present"
		elif docker pull --quiet "$image" >/dev/null 2>"$cache/pull.log"; then
			say "$image has been pulled"
		else
			say "$image can't be pulled: $(tail -n 1 "$cache/pull.log")"
			stand_in "$image"
			docker tag "threads-stand-in/$image" "$image"
		fi
	done
}

is_stand_in() {
	[[ -n $(docker image inspect --format "{{index .Config.Labels \"$label\"}}" "$1" 2>/dev/null) ]]
}

# Builds the stand-in for an image unless it is present and up to date. A label has the hash of its sources.
stand_in() {
	local from
	case $1 in
	golang:* | nats:*) from=$(go version | cat - go.mod go.sum "$here/standins.sh" | sha256sum) ;;
	*) from=$(cat "$here"/standins/* "$here/standins.sh" | sha256sum) ;;
	esac
	if [[ $(docker image inspect --format "{{index .Config.Labels \"$label\"}}" "threads-stand-in/$1" 2>/dev/null) == "${from%% *}" ]]; then
		say "its stand-in is present"
		return
	fi
	stand_in_base
	say "building a stand-in for it"
	case $1 in
	golang:*) stand_in_golang "$1" "${from%% *}" ;;
	mysql:*) stand_in_build "$1" "${from%% *}" "$here/standins/mysql.Dockerfile" "$here/standins" ;;
	nats:*) stand_in_build "$1" "${from%% *}" "$here/standins/nats.Dockerfile" "$(nats_server)" ;;
	amazon/dynamodb-local:*) stand_in_build "$1" "${from%% *}" "$here/standins/dynamodb-local.Dockerfile" "$(dynamodb_local)" ;;
	esac
}

stand_in_build() {
	docker build --network host --label "$label=$2" --tag "threads-stand-in/$1" --file "$3" "$4" >"$cache/stand-in.log" 2>&1 ||
		{ tail -n 20 "$cache/stand-in.log" >&2 && fail "the stand-in for $1 can't be built"; }
}

# A minimal Debian.
stand_in_base() {
	! is_stand_in $base || return 0
	((EUID == 0)) || fail "only root can build stand-ins: run this as root on Debian"
	install_packages debootstrap:debootstrap
	say "building a minimal Debian with debootstrap"
	rm -rf "$cache/rootfs"
	debootstrap --variant=minbase --include=ca-certificates bookworm "$cache/rootfs" \
		${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$cache/debootstrap.log" 2>&1 ||
		fail "debootstrap failed: see $cache/debootstrap.log"
	rm -rf "$cache"/rootfs/var/cache/apt/archives/*.deb "$cache"/rootfs/var/lib/apt/lists/*
	tar --directory "$cache/rootfs" --create . | docker import --change "LABEL $label=base" - $base >/dev/null
	rm -rf "$cache/rootfs"
}

# Debian with this machine's Go, and with the modules of go.mod, so that the build does not download them.
stand_in_golang() {
	local modules container
	modules=$(go env GOMODCACHE)/cache/download
	container=$(docker create $base true)
	tar --directory "$(go env GOROOT)" --exclude=./test --transform='s,^\.,usr/local/go,' --create . | docker cp - "$container:/"
	{
		go mod download -json | sed -nE "s,^.*\"Zip\": \"$modules/([^\"]+)\".*,\1,p"
		(cd "$modules" && find . -type f \( -name '*.info' -o -name '*.mod' \)) # small, and go asks for more than go.mod names
	} | tar --directory "$modules" --transform='s,^,modules/,' --files-from=- --create | docker cp - "$container:/"
	docker commit --change "LABEL $label=$2" \
		--change "ENV PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
		--change "ENV GOTOOLCHAIN=local GOPROXY=file:///modules GOSUMDB=off" \
		"$container" "threads-stand-in/$1" >/dev/null
	docker rm "$container" >/dev/null
}

# The folder of DynamoDBLocal.jar. The tool of make test downloads it, checks it and knows its version.
dynamodb_local() {
	local pattern="${cache%/*}/dynamodb-local-*/DynamoDBLocal.jar"
	if [[ -n ${DYNAMODB_LOCAL_DIR:-} ]]; then
		echo "$DYNAMODB_LOCAL_DIR"
		return
	fi
	compgen -G "$pattern" >/dev/null || (cd tools/dev && go run ./devservices exec -- true) >"$cache/devservices.log" 2>&1 ||
		fail "DynamoDB Local can't be downloaded: see $cache/devservices.log"
	dirname "$(compgen -G "$pattern" | sort --version-sort | tail -n 1)"
}

# The folder of the NATS server that the tests use.
nats_server() {
	mkdir -p "$cache/nats"
	CGO_ENABLED=0 go build -o "$cache/nats/nats-server" github.com/nats-io/nats-server/v2 || fail "the NATS server can't be built"
	echo "$cache/nats"
}

untag_stand_ins() {
	local image
	for image in $(stand_ins); do
		[[ $image == threads-stand-in/* ]] || docker rmi "$image" >/dev/null
	done
}

remove_stand_ins() {
	say "removing the stand-ins"
	stand_ins | xargs --no-run-if-empty docker rmi --force >/dev/null
}

stand_ins() {
	docker images --filter "label=$label" --format '{{.Repository}}:{{.Tag}}' | grep --invert-match '<none>' || true
}
