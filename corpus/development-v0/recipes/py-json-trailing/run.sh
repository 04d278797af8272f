#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
printf '{"rates": {"EUR": 1.0, "SEK": 11.2,}}\n' > rates.json
stage load python3 -c 'import json; print(len(json.load(open("rates.json"))["rates"]))'
exit 0
