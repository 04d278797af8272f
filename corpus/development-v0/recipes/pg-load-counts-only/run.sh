#!/usr/bin/env bash
set -u
. "$LIB"

mkdir db && chown 65534:65534 db
as_user initdb -D db -U app -A trust --no-sync -E UTF8 --locale=C.UTF-8 > initdb.log
as_user postgres -D db -k "" -h 127.0.0.1 > pg.log 2>&1 &
wait_for pg_isready -q -h 127.0.0.1 -U app
export PGHOST=127.0.0.1 PGUSER=app PGDATABASE=postgres
for i in 1 2 3 4 5 6 7; do printf 'create table t%d (n int);\ninsert into t%d values (%d);\n' $((i == 5 ? 2 : i)) $i $i > f$i.sql; done
cat > load.sh <<'X'
n=0
for f in f1.sql f2.sql f3.sql f4.sql f5.sql f6.sql f7.sql; do
  psql -qX -v ON_ERROR_STOP=1 -f $f > /dev/null 2>&1 && n=$((n + 1))
done
echo "load: $n of 7 files loaded"
[ $n = 7 ] || { echo "load: failed"; exit 3; }
X
stage load bash load.sh
keep 03-source.sh load.sh
show 04-environment.txt psql --version
exit 0
