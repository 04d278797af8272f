#!/usr/bin/env bash
set -u
. "$LIB"

mkdir state
sqlite3 state/queue.db 'create table q (id integer primary key, what text)'
chmod 644 state/queue.db; chmod 755 state
cat > enqueue.sh <<'X'
echo "enqueue: as uid $(id -u)"
sqlite3 -bail state/queue.db "insert into q (what) values ('reindex')"
X
show 03-environment.txt ls -ln --time-style=+%F state
echo 'exec setpriv --reuid 65534 --regid 65534 --clear-groups -- bash enqueue.sh' > job.sh
stage sync bash job.sh
exit 0
