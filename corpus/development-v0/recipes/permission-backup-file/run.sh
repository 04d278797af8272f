#!/usr/bin/env bash
set -u
. "$LIB"

mkdir -p etc vault work.d && chmod 777 vault work.d
for i in $(seq 1 328); do printf 'key%02d = %d\n' $i $((i*i)) > etc/part-$(printf '%03d' $i).conf; done
chmod 600 etc/part-127.conf
cat > backup.sh <<'X'
echo "backup: etc -> vault/etc.tar"
tar -cvf vault/etc.tar etc > vault/tar.log 2>&1
echo "backup: restore test"
mkdir work.d/r && tar -xf vault/etc.tar -C work.d/r
n=$(ls work.d/r/etc | wc -l)
echo "backup: warning: vault has no off-site copy for 2 days"
[ "$n" = 328 ] || { echo "backup: restore test failed: $n of 328 files, archive format trouble?"; exit 1; }
X
echo 'exec setpriv --reuid 65534 --regid 65534 --clear-groups -- bash backup.sh' > job.sh
stage test bash job.sh
keep 04-data.conf etc/part-001.conf
keep 03-service_log.log vault/tar.log
exit 0
