#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/sbin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
cat > intake.py <<'X'
import logging
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s intake %(message)s")
parts = []


class Handler(BaseHTTPRequestHandler):
    def log_message(self, fmt, *args):
        pass

    def do_GET(self):
        self.reply(200, str(len(parts)))

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            f = open(f"store/{os.path.basename(self.path)}", "wb")
        except OSError as e:
            logging.error("PUT %s: %s", self.path, e)
            return self.reply(202, "queued")
        f.write(body)
        f.flush()
        parts.append(f)
        if len(parts) % 8 == 0:
            logging.info("%d parts kept open until commit", len(parts))
        if len(parts) == 20:
            logging.warning("store/ is on a slow volume, write took %d ms", 31)
        self.reply(201, "stored")

    def reply(self, code, text):
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


os.makedirs("store", exist_ok=True)
logging.info("intake 0.8 on 127.0.0.1:18913")
ThreadingHTTPServer(("127.0.0.1", 18913), Handler).serve_forever()
X
(ulimit -n 48; exec python3 intake.py) > intake.log 2>&1 &
pid=$!
wait_for curl -s -o /dev/null http://127.0.0.1:18913/
grep 'open files' /proc/$pid/limits > limits.txt
cat > upload.sh <<'X'
echo "upload: 52 parts"
for i in $(seq 1 52); do
  echo "part $i" > part
  code=$(curl -s -o /dev/null -w '%{http_code}' -H 'Expect:' -T part http://127.0.0.1:18913/p$i)
  [ $((i % 13)) = 0 ] && echo "upload: $i sent, last answer $code"
done
n=$(curl -s http://127.0.0.1:18913/)
[ "$n" = 52 ] || { echo "upload: commit refused: manifest lists 52 parts, server counts $n"; exit 1; }
X
stage sync bash upload.sh
keep 03-service_log.log intake.log
{ echo "\$ grep 'open files' /proc/$pid/limits"; cat limits.txt; echo "\$ ls /proc/$pid/fd | wc -l"; ls /proc/$pid/fd | wc -l; echo "\$ df -h --output=size,avail,pcent store"; df -h --output=size,avail,pcent store; } > "$OUT/04-environment.txt"
kill $pid
exit 0
