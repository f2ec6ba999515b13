# The check of the profiles auth and publish. Sourced by run.sh.

# Restarts the system with both: requests need tokens of the development issuer, and every event is published to NATS.
check_profiles() {
	export AUTH=oidc PUBLISH_URL=nats://nats:4222 COMPOSE_PROFILES=auth,publish
	compose_up
	local request=(--silent --output "$cache/answer.json" --write-out '%{http_code}' --header 'Content-Type: application/json')
	local create="http://127.0.0.1:$WRITE_API_PORT/threads/create" query="http://127.0.0.1:$READ_API_PORT/graphql" ada
	ada=$(curl --fail --silent --show-error "http://127.0.0.1:$DEV_ISSUER_PORT/tokens" | sed -n 's/^ada=//p')
	expect 401 "a command without a token" "${request[@]}" --data '{"name":"tea"}' "$create"
	expect 401 "a query without a token" "${request[@]}" --data '{"query":"{ getThreads { id } }"}' "$query"
	request+=(--header "Authorization: Bearer $ada")
	expect 200 "a query with a token" "${request[@]}" --data '{"query":"{ getThreads { id } }"}' "$query"
	expect 201 "a command with a token" "${request[@]}" --data '{"name":"tea"}' "$create"
	is_published "$(sed 's/.*"thread_id":"\([^"]*\)".*/\1/' "$cache/answer.json")"
}

# Sends a request with curl and compares the status.
expect() {
	local want=$1 what=$2 status
	status=$(curl "${@:3}") || fail "$what: no answer"
	[[ $status == "$want" ]] || fail "$what is answered with $status instead of $want: $(cat "$cache/answer.json")"
}

# Waits until the example subscriber receives an event of the thread.
is_published() {
	go build -o "$cache/subscriber" ./extras/publishing/examples/subscriber
	PUBLISH_URL=nats://127.0.0.1:$NATS_PORT "$cache/subscriber" >"$cache/events.log" &
	local subscriber=$! deadline=$((SECONDS + 60))
	until grep --quiet "thread-$1" "$cache/events.log"; do
		((SECONDS < deadline)) || { kill "$subscriber" && fail "the thread $1 was not published: see $cache/events.log"; }
		sleep 0.5
	done
	kill "$subscriber"
}
