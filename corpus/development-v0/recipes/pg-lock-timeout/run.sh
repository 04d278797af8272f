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
psql -qX -c "create table orders (id int)"
(printf 'begin; lock table orders in access share mode;\n'; sleep 25) | psql -qX > holder.log 2>&1 &
wait_for sh -c "psql -XAtc \"select 1 from pg_locks l join pg_class c on c.oid = l.relation where relname = 'orders'\" | grep -q 1"
printf 'set lock_timeout = %s;\nalter table orders add column region text;\n' "'3s'" > 012_region.sql
stage deploy psql -X -v ON_ERROR_STOP=1 -f 012_region.sql
keep 03-service_log.log pg.log
exit 0
