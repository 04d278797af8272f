#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
cat > quotes.py <<'X'
import json
import logging
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("quotes")


def decode(raw):
    doc = json.loads(raw)
    return {"symbol": doc["symbol"].upper(), "qty": int(doc["qty"])}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, fmt, *args):
        log.info("http " + fmt, *args)

    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            order = decode(body)
            log.warning("pricing took 212 ms for %s, above the 200 ms target", order["symbol"])
            out = {"symbol": order["symbol"], "cost": order["quantity"] * 17}
        except Exception:
            log.exception("request failed")
            self.send_response(500)
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(out).encode())


log.info("quotes 1.9.4 listening on 127.0.0.1:18912")
HTTPServer(("127.0.0.1", 18912), Handler).serve_forever()
X
printf '{"symbol": "abc", "qty": "5"}\n' > order.json
python3 quotes.py > "$OUT/03-service_log.log" 2>&1 &
pid=$!
for i in $(seq 50); do curl -s -o /dev/null http://127.0.0.1:18912/ && break; sleep 0.1; done
cp quotes.py "$OUT/04-source.py"
cp order.json "$OUT/05-data.json"
stage deploy curl -sS -f --retry 2 --retry-delay 1 -H "Content-Type: application/json" --data @order.json http://127.0.0.1:18912/quote
kill $pid 2>/dev/null; wait $pid 2>/dev/null
exit 0
