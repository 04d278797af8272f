#!/usr/bin/env bash
set -u
. "$LIB"

mkdir parts
printf '[rebuild]\ntime_limit_s = 6\nparts = 9\nscratch = parts/tmp\n' > rebuild.ini
cat > work.sh <<'X'
n=$(sed -n 's/^parts = //p' rebuild.ini)
for p in $(seq 1 $n); do
  echo "$(date -u +%T) rebuild: part $p of $n started"
  awk -v k="$1" 'BEGIN { for (i = 0; i < k; i++) s += i % 7; print s }' > parts/$p.out
  echo "$(date -u +%T) rebuild: part $p done"
done
X
run() { # ROUNDS: one whole run, as history line
  local t0 t1; t0=$(date +%s%N); timeout 60 bash work.sh "$1" > /dev/null; t1=$(date +%s%N)
  printf 'run %s  rows %9d  took %d.%d s\n' "$2" "$1" $(((t1-t0)/1000000000)) $(((t1-t0)/100000000%10))
}
{ run 2000000 0206; run 3200000 0207; run 4800000 0208; } > "$OUT/04-history.txt"
rm -f parts/*.out
cat > rebuild.sh <<'X'
lim=$(sed -n 's/^time_limit_s = //p' rebuild.ini)
timeout "$lim" bash work.sh 14000000
rc=$?
for p in 1 2 3 4 5 6 7 8 9; do mv parts/$p.out parts/$p.final; done
exit $rc
X
stage build bash rebuild.sh
show 05-data.txt ls -s parts
keep 03-config.ini rebuild.ini
exit 0
