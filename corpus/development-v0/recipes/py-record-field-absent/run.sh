#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
: > orders.jsonl
for i in $(seq 1 40); do
  if [ $i = 23 ]; then echo '{"order": 5023, "sku": "K-16", "qty": 2, "currency": "EUR"}' >> orders.jsonl
  else echo "{\"order\": $((5000+i)), \"sku\": \"K-$((i%19))\", \"qty\": $((1+i%4)), \"unit_price\": $((100+i*7)), \"currency\": \"EUR\"}" >> orders.jsonl; fi
done
cat > schema.json <<'X'
{
  "title": "order feed, agreed with the sender",
  "type": "object",
  "required": ["order", "sku", "qty", "unit_price", "currency"],
  "properties": {
    "order": {"type": "integer"},
    "sku": {"type": "string"},
    "qty": {"type": "integer", "minimum": 1},
    "unit_price": {"type": "integer", "minimum": 1},
    "currency": {"type": "string"}
  }
}
X
cat > invoice.py <<'X'
import json
import sys
from collections import defaultdict

lines = [json.loads(x) for x in open(sys.argv[1])]
print(f"invoice: {len(lines)} orders read")
sums = defaultdict(int)
for n, o in enumerate(lines, 1):
    if n % 10 == 0:
        print(f"invoice: {n} orders priced")
    sums[o["currency"]] += o["qty"] * o["unit_price"]
print(dict(sums))
X
stage load python3 invoice.py orders.jsonl
sed -n '18,28p' orders.jsonl > "$OUT/03-data.jsonl"
cp schema.json "$OUT/04-config.json"
exit 0
