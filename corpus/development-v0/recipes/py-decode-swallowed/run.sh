#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
mkdir -p inbox
for n in $(seq -w 1 38); do
  { echo "sku;town;qty"; for i in $(seq 1 14); do echo "S$n$i;Porto;$((i*3))"; done; } > inbox/part-$n.csv
done
printf 'S0499;Malm\xf6;7\nS0498;K\xf8ge;9\n' >> inbox/part-17.csv
cat > worker.py <<'X'
import glob
import logging
import sys

logging.basicConfig(filename=sys.argv[1], level=logging.INFO, format="%(asctime)s %(levelname)s stockload %(message)s")
expected = 38
rows = 0
done = 0
for path in sorted(glob.glob("inbox/*.csv")):
    logging.info("open %s", path)
    try:
        text = open(path, encoding="utf-8").read()
    except ValueError as e:
        logging.error("skip %s: %s", path, e)
        continue
    n = text.count("\n") - 1
    if n > 13:
        logging.warning("%s: %d rows, batch size 13 exceeded, splitting", path, n)
    rows += n
    done += 1
    logging.info("commit %s rows=%d", path, n)
print(f"stockload: files={done} rows={rows}")
if done != expected:
    print(f"stockload: reconciliation failed: expected {expected} files in warehouse, found {done}", file=sys.stderr)
    print("stockload: rolled back, warehouse unchanged", file=sys.stderr)
    sys.exit(4)
X
stage load python3 worker.py stockload.log
keep 05-source.py worker.py
keep 03-service_log.log stockload.log
{ echo "$ tail -c 64 inbox/part-17.csv | od -An -c"; tail -c 64 inbox/part-17.csv | od -An -c; } > "$OUT/04-data.txt"
exit 0
