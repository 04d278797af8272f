#!/usr/bin/env bash
set -u
. "$LIB"

mkdir -p run logs
cat > site.conf <<'X'
pid run/nginx.pid;
error_log logs/error.log;
events { worker_connections 64; }
http {
    access_log off;
    server {
        listen 127.0.0.1:8092;
        location /ready {
            return 204;
        }
    }
}
X
python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 8092)); s.listen(); open("up", "w").close(); time.sleep(60)' &
pid=$!
wait_for test -e up
cat > start.sh <<'X'
echo "start: web, revision 204"
nginx -p . -c site.conf > /dev/null 2>&1 || echo "start: step 2 of 4 returned an error"
echo "start: step 3 of 4 skipped"
echo "start: web did not become ready"
exit 1
X
stage serve bash start.sh
show 04-environment.txt nginx -v
keep 03-config.conf site.conf
kill $pid
exit 0
