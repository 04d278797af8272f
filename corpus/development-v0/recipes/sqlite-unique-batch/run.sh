#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
cat > gen.py <<'X'
import csv
with open("articles.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["article", "name", "stock"])
    for i in range(1, 391):
        n = 1117 if i == 244 else 1000 + i
        w.writerow([n, f"part {i:03d}", (i * 7) % 40])
X
python3 gen.py
cat > load.py <<'X'
import csv
import logging
import sqlite3
import sys

logging.basicConfig(filename="load.log", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
db = sqlite3.connect("stock.db")
db.execute("create table article (article integer primary key, name text not null, stock integer not null)")
rows = list(csv.DictReader(open("articles.csv")))
done = 0
for start in range(0, len(rows), 10):
    batch = rows[start:start + 10]
    try:
        with db:
            for r in batch:
                db.execute("insert into article values (?, ?, ?)", (r["article"], r["name"], r["stock"]))
        done += len(batch)
        logging.info("batch %d: %d rows", start // 10 + 1, len(batch))
    except sqlite3.Error as e:
        logging.error("batch %d rolled back at article %s (%s): %s: %s", start // 10 + 1, r["article"], r["name"], type(e).__name__, e)
    if any(int(r["stock"]) < 3 for r in batch):
        logging.warning("batch %d holds articles below the reorder level", start // 10 + 1)
low = db.execute("select count(*) from article where stock < 3").fetchone()[0]
print(f"load: {done} of {len(rows)} rows")
print(f"load: {low} articles below the reorder level")
if done < len(rows):
    print("load: stock total does not match the delivery note, aborting", file=sys.stderr)
    sys.exit(1)
X
stage load python3 load.py
keep 03-service_log.log load.log
keep 04-data.csv articles.csv
exit 0
