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

pg_up -c log_min_messages=fatal
mkdir migrations
printf 'create table schema_version (n int, applied text);\ninsert into schema_version values (41, %s);\ncreate table depot (id int primary key, name text);\n' "'2026-01-20'" | psql -qX
{ echo "begin;"; echo "\\echo migrate: 042_rates"; echo "create table rates (code text primary key, rate numeric);"; echo "create index rates_rate on rates (rate);"
  echo "\\echo migrate: 043_depot_regions"; echo "alter table depot add column region text;"
  for r in $(seq -f 'region%02.0f' 1 48); do echo "insert into depot (id, name, region) values ($RANDOM, '$r depot', '$r');"; done
  echo "\\echo migrate: 044_views"; echo "create view depot_names as select name from depot;"; echo "update schema_version set n = 44;"; echo "commit;"; } > migrations/pending.sql
cat > migrate.sh <<'X'
echo "migrate: schema is at $(psql -XAtc 'select n from schema_version'), target is 44"
psql -X -f migrations/pending.sql 2>&1
v=$(psql -XAtc 'select n from schema_version')
if [ "$v" != 44 ]; then echo "migrate: error: schema_version is $v after the run, expected 44"; exit 1; fi
X
cat > by_hand.sql <<'X'
create table rates (code text primary key, rate numeric);
insert into rates values ('EUR', 1), ('SEK', 11.2);
select count(*) from rates;
X
{ echo "2026-02-09 psql session on app (from the operator's shell log)"; psql -X -a -f by_hand.sql; } > "$OUT/03-history.txt" 2>&1
stage deploy bash migrate.sh
exit 0
