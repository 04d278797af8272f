#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
sqlite3 app.db 'create table job (id integer primary key, state text); insert into job (state) values ("new"), ("new"), ("new")'
cat > archive.py <<'X'
import sqlite3
import sys
import time

db = sqlite3.connect("app.db", isolation_level=None)


def say(text):
    print(time.strftime("%H:%M:%S"), "archive:", text, flush=True)


say("begin immediate")
db.execute("begin immediate")
for i in range(1, 40):
    db.execute("insert into job (state) values ('archived')")
    say(f"chunk {i} of 40 copied, transaction open")
    time.sleep(0.5)
X
python3 archive.py > archive.log 2>&1 &
pid=$!
wait_for grep -q 'chunk 1 ' archive.log
cat > tick.sql <<'X'
.timeout 5000
select count(*) || ' jobs waiting' from job where state = 'new';
update job set state = 'taken' where id = 1;
X
stage sync sqlite3 -bail app.db '.read tick.sql'
keep 04-source.sql tick.sql
keep 03-service_log.log archive.log
kill $pid
exit 0
