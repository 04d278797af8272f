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

pg_up
export PGPASSWORD=k3-Mellow-Heron
printf 'create table t (a int);\n' > seed.sql
stage load psql -X -v ON_ERROR_STOP=1 -f seed.sql
keep 03-service_log.log pg.log
keep 04-data.sql seed.sql
exit 0
