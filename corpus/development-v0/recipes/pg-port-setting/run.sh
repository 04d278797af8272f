#!/usr/bin/env bash
set -u
. "$LIB"

# pg_up OPTIONS...: a PostgreSQL server on 127.0.0.1:5432 with a role and a database named app
pg_up() {
  chmod 1777 "$TMPDIR"
  mkdir db && chown 65534:65534 db
  as_user initdb -D db -U postgres -A trust --no-sync -E UTF8 --locale=C.UTF-8 > initdb.log
  printf "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n" > db/pg_hba.conf
  as_user postgres -D db -k "" -h 127.0.0.1 "$@" > pg.log 2>&1 &
  pg_pid=$!
  wait_for pg_isready -q -h 127.0.0.1 -U postgres -p "${PG_PORT:-5432}"
  psql -qX -h 127.0.0.1 -p "${PG_PORT:-5432}" -U postgres -c "create role app login" -c "create database app owner app"
  printf "alter role app password %s;\n" "'k3-Mellow-Otter'" | psql -qX -h 127.0.0.1 -p "${PG_PORT:-5432}" -U postgres
  export PGHOST=127.0.0.1 PGUSER=app PGDATABASE=app PGPASSWORD=k3-Mellow-Otter PGCONNECT_TIMEOUT=5
}

PG_PORT=5442
pg_up -p 5442
printf '[database]\nhost = 127.0.0.1\nport = 5432\nname = app\nuser = app\npool = 6\nstatement_timeout_s = 30\n' > store.ini
cat > check.sh <<'X'
get() { sed -n "s/^$1 = //p" store.ini; }
echo "store 5.0.2: applying settings from store.ini"
echo "store: warning: pool is below the advised 10"
psql -X -h "$(get host)" -p "$(get port)" -U "$(get user)" -d "$(get name)" -c 'select 1' || { echo "store: database unavailable, not starting"; exit 2; }
X
stage serve bash check.sh
keep 03-config.ini store.ini
keep 04-service_log.log pg.log
show 05-environment.txt pg_isready -h 127.0.0.1 -p 5442
exit 0
