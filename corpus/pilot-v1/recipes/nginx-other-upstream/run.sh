. "$LIB"
mkdir -p logs tmp
cat >app.py <<'P'
import http.server, sys, time
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"ok\n")
    def log_message(self, f, *a):
        print(time.strftime("%H:%M:%S"), "app: " + f % a, flush=True)
s = http.server.HTTPServer(("127.0.0.1", 8118), H)
print(time.strftime("%H:%M:%S"), "app: release 2024.11 ready, listening on %s:%d" % s.server_address, flush=True)
s.serve_forever()
P
cat >proxy.conf <<C
daemon on;
worker_processes 1;
pid $WORK/tmp/proxy.pid;
error_log $WORK/logs/error.log info;
events { worker_connections 64; }
http {
    access_log $WORK/logs/access.log;
    client_body_temp_path $WORK/tmp;
    proxy_temp_path $WORK/tmp/proxy;
    fastcgi_temp_path $WORK/tmp/fcgi;
    uwsgi_temp_path $WORK/tmp/uwsgi;
    scgi_temp_path $WORK/tmp/scgi;
    upstream orders {
        server 127.0.0.1:8181 max_fails=0;
        keepalive 4;
    }
    server {
        listen 127.0.0.1:8080;
        location /health { return 200 "proxy up\n"; }
        location / {
            proxy_pass http://orders;
            proxy_connect_timeout 2s;
        }
    }
}
C
python3 app.py >logs/app.log 2>&1 &
nginx -e "$WORK/logs/error.log" -c "$WORK/proxy.conf"
wait_for curl -fsS http://127.0.0.1:8118/warmup
wait_for curl -fsS http://127.0.0.1:8080/health
cat >smoke.sh <<'S'
#!/bin/sh
echo "smoke: proxy $(curl -s http://127.0.0.1:8080/health)"
for path in /orders/1 /orders/2; do
  curl -sS --fail-with-body -o /dev/null -w "smoke: $path -> %{http_code} in %{time_total}s\n" http://127.0.0.1:8080$path || bad=1
done
[ -z "$bad" ] || { echo "smoke: orders service is not reachable, deployment rolled back"; exit 1; }
S
chmod +x smoke.sh
for i in $(seq 24); do curl -fsS "http://127.0.0.1:8118/warmup?order=$i" >/dev/null; curl -fsS http://127.0.0.1:8080/health >/dev/null; done
stage deploy ./smoke.sh
keep 03-service_log.log logs/error.log 6
keep 04-config.conf proxy.conf
keep 05-service_log.log logs/app.log
show 06-environment.txt nginx -v
show 06-environment.txt curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:8080/health
