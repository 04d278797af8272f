#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
sqlite3 ledger.db 'create table entry (id integer primary key, cents integer); insert into entry (cents) values (100), (250)'
cat > rebalance.py <<'X'
import sqlite3
import sys
import time

db = sqlite3.connect("ledger.db", isolation_level=None, timeout=0)
print("rebalance: run", sys.argv[1], flush=True)
db.execute("begin exclusive")
print("rebalance: working", flush=True)
db.execute("update entry set cents = cents + 1")
if sys.argv[1] == "2026-02-10":
    time.sleep(600)
db.execute("commit")
print("rebalance: done", flush=True)
X
for d in 08 09; do python3 rebalance.py 2026-02-$d > run-$d.log 2>&1; done
python3 rebalance.py 2026-02-10 > run-10.log 2>&1 &
pid=$!
wait_for grep -q working run-10.log
{ for d in 08 09; do echo "run-$d:"; cat run-$d.log; done; echo "run-10:"; cat run-10.log; } > "$OUT/04-history.txt"
ps -C python3 -o pid,stat,args > ps.txt
stage sync python3 rebalance.py 2026-02-11
{ echo "\$ ps -C python3 -o pid,stat,args"; cat ps.txt; } > "$OUT/03-environment.txt"
kill $pid
exit 0
