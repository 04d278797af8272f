#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/sbin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
printf 'table = {}\nfor i in range(40):\n    table[i] = bytearray(16 << 20)\nprint(len(table))\n' > pivot.py
ulimit -v 300000
stage build python3 pivot.py
exit 0
