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

pg_up -c log_lock_waits=on -c deadlock_timeout=500ms -c "log_line_prefix=%m [%p] %a "
psql -qX -c "create table shipments (id int primary key, note text)" -c "insert into shipments select i, 'n' || i from generate_series(1, 500) i"
(printf 'begin; select count(*) from shipments;\n'; sleep 25) | PGAPPNAME=monthly-report psql -qX > holder.log 2>&1 &
wait_for sh -c "psql -XAtc \"select 1 from pg_locks l join pg_class c on c.oid = l.relation where relname = 'shipments' and mode = 'AccessShareLock'\" | grep -q 1"
cat > migrate.ini <<'X'
[migrate]
dir = migrations
stop_on_error = no
statement_log = no
lock_timeout_ms = 4000
X
cat > 031.sql <<'X'
alter table shipments add column carrier text;
update shipments set carrier = 'unknown' where carrier is null;
update shipments set carrier = 'post' where id % 7 = 0;
create index shipments_carrier on shipments (carrier);
X
cat > migrate.sh <<'X'
export PGAPPNAME=migrate PGOPTIONS="-c lock_timeout=4000"
echo "migrate: 031.sql"
psql -X -f 031.sql 2>&1 | grep -v 'lock' | sed 's/^psql:/migrate: /'
psql -XAtc "select 1 from information_schema.columns where table_name = 'shipments' and column_name = 'carrier'" | grep -q 1 || { echo "migrate: 031.sql left table shipments without column carrier"; exit 1; }
X
stage deploy bash migrate.sh
keep 03-config.ini migrate.ini
keep 04-service_log.log pg.log
keep 05-source.sql 031.sql
exit 0
