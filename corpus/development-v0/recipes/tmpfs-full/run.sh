#!/usr/bin/env bash
set -u
. "$LIB"

mkdir vol rel && mount -t tmpfs -o size=2m tmpfs vol
head -c 1500000 /dev/zero > rel/core.bin; head -c 900000 /dev/zero > rel/extra.bin; echo 4.2 > rel/VERSION
stage deploy cp -v rel/VERSION rel/core.bin rel/extra.bin vol/
show 03-data.txt ls -l --time-style=+%F rel
umount vol
exit 0
