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

mkdir old new
(cd old && ng_conf site.conf 'listen 127.0.0.1:8088;' 'location /version {' '    return 200 "118\n";' '}' && nginx -p . -c site.conf -g 'user root;' > start.log 2>&1)
cd new && ng_conf site.conf 'listen 127.0.0.1:8088;' 'listen 127.0.0.1:8089;' 'location /version {' '    return 200 "119\n";' '}' && cd ..
cat > roll.sh <<'X'
echo "roll: release 119"
nginx -p new -c site.conf -g 'user root;' 2>/dev/null &
wait $!
echo "roll: started, waiting for the version end point"
for i in 1 2 3; do
  v=$(curl -s http://127.0.0.1:8088/version)
  echo "roll: /version says ${v:-nothing}"
  [ "$v" = 119 ] && exit 0
  sleep 0.4
done
echo "roll: error: artefact of release 119 reports version $v, refusing to shift traffic (wrong build promoted?)"
exit 1
X
stage deploy bash roll.sh
keep 05-config.conf new/site.conf
keep 03-service_log.log new/logs/error.log
{ echo "\$ ss -ltn"; ss -ltn; echo "\$ ps -C nginx -o pid,args"; ps -C nginx -o pid,args; echo "\$ cat old/run/nginx.pid"; cat old/run/nginx.pid; } > "$OUT/04-environment.txt"
kill "$(cat old/run/nginx.pid)"
exit 0
