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

pg_up -c temp_file_limit=3MB -c work_mem=64kB -c log_temp_files=0 -c log_checkpoints=off
psql -qX -c "create table clicks as select i, md5(i::text) as visitor, i % 5 as shard from generate_series(1, 160000) i"
psql -XAt -U postgres -d app -c "select name || ' = ' || setting || coalesce(' ' || unit, '') from pg_settings where name in ('work_mem', 'temp_file_limit', 'maintenance_work_mem', 'max_connections', 'shared_buffers') order by name" > "$OUT/04-config.conf"
cat > rollup.sh <<'X'
mkdir -p out
for s in 0 1 2 3 4; do
  psql -XAt -c "select visitor from clicks where shard = $s order by visitor limit 20" > out/shard-$s.txt 2>/dev/null
  echo "rollup: shard $s written"
done
psql -XAt -c "select visitor, i from clicks order by visitor desc, i" > out/all.txt 2>/dev/null
echo "rollup: merged list written"
got=$(cut -d'|' -f1 out/all.txt | wc -l)
echo "rollup: verifying"
echo "160000  rows" | grep -q "^$got " || { echo "rollup: error: merged list differs from source: checksum $(md5sum < out/all.txt | cut -c1-12), rows $got"; exit 1; }
X
stage build bash rollup.sh
keep 03-service_log.log pg.log
exit 0
