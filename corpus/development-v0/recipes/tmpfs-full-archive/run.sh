#!/usr/bin/env bash
set -u
. "$LIB"

mkdir vol data && mount -t tmpfs -o size=3m tmpfs vol
for i in $(seq -w 1 120); do head -c 40000 /dev/urandom > data/block-$i; done
cat > backup.sh <<'X'
echo "backup: 120 blocks"
echo "backup: warning: compression level 1 is used, archive may be large"
tar -cvf - data 2>>tar.log | gzip -1 > vol/data.tar.gz 2>>gzip.log
echo "backup: archive written, verifying"
gzip -t vol/data.tar.gz || { echo "backup: archive damaged, transfer to vault cancelled"; exit 1; }
X
stage sync bash backup.sh
keep 05-source.sh backup.sh
cat tar.log gzip.log > collected.log
keep 03-service_log.log collected.log
show 04-environment.txt df -k --output=target,size,used,avail,pcent vol
show 04-environment.txt ls -l --time-style=+%F vol
umount vol
exit 0
