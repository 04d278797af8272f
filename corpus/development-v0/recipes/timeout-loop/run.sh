#!/usr/bin/env bash
set -u
. "$LIB"

cat > settle.sh <<'X'
echo "settle: reindex started, 5 s allowed"
n=0
while :; do
  n=$((n + 1))
  echo "settle: pass $n: 4 segments left, merging again"
  sleep 0.05
done
X
STAGE_TIMEOUT=5
stage build bash settle.sh
keep 03-source.sh settle.sh
exit 0
