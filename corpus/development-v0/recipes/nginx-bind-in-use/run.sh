#!/usr/bin/env bash
set -u
. "$LIB"

# ng_conf FILE SERVER-BODY...: an nginx configuration that needs no root
ng_conf() {
  local f=$1; shift
  mkdir -p run logs
  { echo "pid run/nginx.pid;"; echo "error_log logs/error.log info;"; echo "worker_processes 1;"; echo "events { worker_connections 64; }"; echo "http {"
    echo "    access_log off;"; for d in client_body fastcgi uwsgi scgi proxy; do echo "    ${d}_temp_path run/$d;"; done
    echo "    server {"; printf "        %s\n" "$@"; echo "    }"; echo "}"; } > "$f"
}

ng_conf site.conf 'listen 127.0.0.1:8088;' 'location / {' '    return 204;' '}'
python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 8088)); s.listen(); open("up", "w").close(); time.sleep(60)' &
pid=$!
wait_for test -e up
stage serve nginx -p . -c site.conf -g 'daemon off;'
keep 03-config.conf site.conf
kill $pid
exit 0
