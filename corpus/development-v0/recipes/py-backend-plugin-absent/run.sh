#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
mkdir -p app
cat > app/server.py <<'X'
import configparser
import http.server
import importlib
import logging

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
log = logging.getLogger("catalog")
cfg = configparser.ConfigParser()
cfg.read("catalog.ini")
log.info("catalog 3.2.0 starting")
log.warning("setting 'cache.warmup' is deprecated and will be removed in 4.0")
log.info("listener configured for 127.0.0.1:%s", cfg["http"]["port"])
store = importlib.import_module("app.stores." + cfg["store"]["backend"])
log.info("store ready: %s", store)
http.server.HTTPServer(("127.0.0.1", int(cfg["http"]["port"])), http.server.SimpleHTTPRequestHandler).serve_forever()
X
mkdir -p app/stores; : > app/__init__.py; : > app/stores/__init__.py
cat > app/stores/columnar.py <<'X'
import colstore_native

def open_store(path):
    return colstore_native.open(path)
X
printf '[http]\nport = 18911\n\n[cache]\nwarmup = yes\n\n[store]\nbackend = columnar\npath = data/catalog.col\n' > catalog.ini
cat > smoke.sh <<'X'
for i in 1 2 3 4; do
  echo "smoke: try $i of 4: GET http://127.0.0.1:18911/healthz"
  curl -sS -o /dev/null --max-time 2 http://127.0.0.1:18911/healthz && { echo "smoke: ok"; exit 0; }
  sleep 0.5
done
echo "smoke: catalog is not reachable, giving up"
exit 7
X
python3 -m app.server > "$OUT/04-service_log.log" 2>&1 &
pid=$!
cp catalog.ini "$OUT/03-config.ini"
stage deploy bash smoke.sh
kill $pid 2>/dev/null
exit 0
