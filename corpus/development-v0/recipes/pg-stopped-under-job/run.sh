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
psql -qX -c "create table readings (v int)" -c "insert into readings select i from generate_series(1, 300) i"
as_user pg_ctl -D db stop -m fast > stop.log 2>&1
cat > forecast.sh <<'X'
echo "forecast: window 300 readings"
n=0
for try in 1 2 3; do
  out=$(psql -XAtc 'select count(*) from readings' 2>>forecast.err) && { n=$out; break; }
  echo "forecast: try $try: no figure, waiting"
  sleep 1
done
echo "forecast: readings used: $n"
echo "forecast: warning: model file is 16 days old"
if [ "$n" -lt 200 ]; then echo "forecast: plausibility check failed: mean 0.00 outside 80..220"; exit 6; fi
X
stage build bash forecast.sh
keep 05-config.conf db/pg_hba.conf
keep 03-service_log.log pg.log
show 04-environment.txt pg_isready -h 127.0.0.1 -p 5432
show 04-environment.txt ls db/postmaster.pid
exit 0
