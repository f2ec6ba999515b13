#!/bin/bash
# Starts MariaDB like the entrypoint of the mysql image starts MySQL: the first start creates the database and the users
# in MYSQL_DATABASE, MYSQL_USER, MYSQL_PASSWORD, MYSQL_ROOT_PASSWORD and MYSQL_RANDOM_ROOT_PASSWORD. Options are passed
# to the server; any other command is run instead of it.
set -euo pipefail

data=/var/lib/mysql
runtime=/run/mysqld

# Prints the text as an SQL string.
quoted() {
	local text=${1//\\/\\\\}
	printf "'%s'" "${text//\'/\'\'}"
}

first_statements() {
	local root=${MYSQL_ROOT_PASSWORD:-}
	if [[ -z $root && -z ${MYSQL_RANDOM_ROOT_PASSWORD:-} ]]; then
		echo "set MYSQL_ROOT_PASSWORD, or MYSQL_RANDOM_ROOT_PASSWORD to any value" >&2
		return 1
	fi
	: "${root:=$(head -c 24 /dev/urandom | base64)}"
	echo "ALTER USER root@localhost IDENTIFIED BY $(quoted "$root");"
	[[ -z ${MYSQL_DATABASE:-} ]] || echo "CREATE DATABASE IF NOT EXISTS \`$MYSQL_DATABASE\`;"
	[[ -n ${MYSQL_USER:-} ]] || return 0
	echo "CREATE USER IF NOT EXISTS $(quoted "$MYSQL_USER")@'%' IDENTIFIED BY $(quoted "${MYSQL_PASSWORD:?is not set}");"
	[[ -z ${MYSQL_DATABASE:-} ]] || echo "GRANT ALL ON \`$MYSQL_DATABASE\`.* TO $(quoted "$MYSQL_USER")@'%';"
}

if [[ ${1:-} == -* ]]; then
	set -- mysqld "$@"
fi
if [[ ${1:-} != mysqld ]]; then
	exec "$@"
fi
shift
install -d -o mysql -g mysql "$runtime"
chown mysql:mysql "$data"
init=()
if [[ ! -d $data/mysql ]]; then
	(umask 077 && first_statements >"$runtime/init.sql")
	chown mysql:mysql "$runtime/init.sql"
	mariadb-install-db --no-defaults --user=mysql --datadir="$data" --skip-test-db \
		--auth-root-authentication-method=normal >/dev/null
	init=(--init-file="$runtime/init.sql")
fi
exec mariadbd --no-defaults --user=mysql --datadir="$data" --socket="$runtime/mysqld.sock" "${init[@]}" "$@"
