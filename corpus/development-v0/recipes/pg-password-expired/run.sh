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

pg_up -c log_connections=off
psql -qX -c "create table sales (day date, cents int)" -c "insert into sales select date '2026-01-01' + i, i * 13 from generate_series(1, 60) i"
psql -qX -U postgres -c "alter role app valid until '2026-02-01 00:00:00+00'"
cat > export.sh <<'X'
echo "export: table sales -> sales.csv"
for try in 1 2 3; do
  psql -X -w -c "\copy sales to sales.csv csv" 2>/dev/null && break
  echo "export: try $try gave nothing"
done
touch sales.csv
echo "export: warning: sales.csv replaces yesterday's file"
awk -F, '{ s += $2 } END { if (NR == 0) { print "report: error: division by zero in mean of sales.csv"; exit 2 } print s / NR }' sales.csv
X
stage build bash export.sh
keep 03-service_log.log pg.log
show 04-environment.txt psql -X -U postgres -d app -c '\du'
exit 0
