#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
cat > gen.py <<'X'
import json
doc = {"as_of": "2026-03-02", "rates": {f"C{i:03d}": round(1 + i / 7, 4) for i in range(520)}}
s = json.dumps(doc, indent=1)
open("feed.json", "w").write(s[: len(s) * 2 // 3])
X
python3 gen.py
cat > revalue.py <<'X'
import json
import logging
import sys

logging.basicConfig(filename=sys.argv[1], level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
feed_log = logging.getLogger("feed")


def read_feed(path):
    size = 0
    try:
        text = open(path).read()
        size = len(text)
        doc = json.loads(text)
        feed_log.info("%s: %d bytes", path, size)
        return doc
    except ValueError as e:
        feed_log.warning("%s: %d bytes: %s; continuing without it", path, size, e)
        return {}


def main():
    logging.getLogger("main").info("revalue 2.4 start")
    logging.getLogger("main").warning("no previous valuation found, drift check disabled")
    feed = read_feed("feed.json")
    book = {"C004": 1200, "C077": 90}
    total = 0
    for code, qty in book.items():
        total += qty * feed["rates"][code]
    print(f"total {total:.2f}")


main()
X
stage load python3 revalue.py revalue.log
keep 05-source.py revalue.py
keep 03-service_log.log revalue.log
cp feed.json "$OUT/04-data.json"
exit 0
