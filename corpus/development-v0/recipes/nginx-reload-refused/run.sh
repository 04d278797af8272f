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

ng_conf site.conf 'listen 127.0.0.1:8088;' 'location /v1/ {' '    return 200 "v1\n";' '}'
nginx -p . -c site.conf -g 'user root;' > start.log 2>&1
sleep 0.3; : > logs/error.log
ng_conf site.conf 'listen 127.0.0.1:8088;' 'keepalive_timeout 20s;' 'client_max_body_size 8m;' 'location /v1/ {' '    return 200 "v1\n";' '}' 'location /v2/ {' '    add_header X-Route v2;' '    clients_body_timeout 12s;' '    return 200 "v2\n";' '}'
cat > deploy.sh <<'X'
echo "deploy: site.conf copied, signalling the web server"
kill -HUP "$(cat run/nginx.pid)"
sleep 1
for route in v1 v2; do
  code=$(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8088/$route/ping)
  echo "deploy: GET /$route/ping -> $code"
done
[ "$code" = 200 ] || { echo "deploy: error: backend build for v2 answers $code, was the new backend rolled out?"; exit 1; }
X
stage deploy bash deploy.sh
keep 03-service_log.log logs/error.log
keep 04-config.conf site.conf
kill "$(cat run/nginx.pid)"
exit 0
