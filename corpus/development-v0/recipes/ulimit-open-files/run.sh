#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/sbin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
mkdir segs; for i in $(seq 1 90); do echo $i > segs/s$i; done
printf 'import glob\n\nfs = [open(p) for p in sorted(glob.glob("segs/*"))]\nprint(sum(int(f.read()) for f in fs))\n' > merge.py
ulimit -n 64
stage build python3 merge.py
keep 03-source.py merge.py
exit 0
