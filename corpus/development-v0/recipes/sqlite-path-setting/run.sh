#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
mkdir -p data
sqlite3 data/inventory-prod.db 'create table item (id integer primary key, name text); insert into item (name) values ("bolt"), ("nut")'
printf '[inventory]\ndatabase = data/inventory_prod.db\nreorder_level = 5\nmail_to = stock@example.com\n' > inventory.ini
cat > count.py <<'X'
import configparser
import sqlite3

cfg = configparser.ConfigParser()
cfg.read("inventory.ini")
print("inventory 2.2, reorder level", cfg["inventory"]["reorder_level"], flush=True)
db = sqlite3.connect(cfg["inventory"]["database"])
db.execute("pragma user_version = 12")
print("items:", db.execute("select count(*) from item").fetchone()[0])
X
stage build python3 count.py
show 05-data.txt sqlite3 -readonly data/inventory-prod.db "select * from item"
keep 03-config.ini inventory.ini
{ echo "\$ ls -l --time-style=+%F data"; ls -l --time-style=+%F data; echo "\$ sqlite3 -readonly data/inventory-prod.db .schema"; sqlite3 -readonly data/inventory-prod.db .schema; } > "$OUT/04-environment.txt"
exit 0
