#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
sqlite3 crm.db 'create table customers (id integer primary key, name text, since text); create table visits (customer integer, day text)'
cat > top.py <<'X'
import sqlite3

db = sqlite3.connect("crm.db")
for name, n in db.execute("select name, count(*) from custmers join visits on customer = id group by name"):
    print(name, n)
X
keep 03-source.py top.py
show 04-environment.txt sqlite3 crm.db .schema
stage build python3 top.py
exit 0
