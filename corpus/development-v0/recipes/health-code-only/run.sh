#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/sbin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
cat > notes.py <<'X'
import sqlite3
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            sqlite3.connect("notes.db").execute("select count(*) from note")
            self.send_response(200)
        except sqlite3.Error:
            self.send_response(500)
        self.end_headers()


HTTPServer(("127.0.0.1", 18921), Handler).serve_forever()
X
python3 notes.py > notes.log 2>&1 &
pid=$!
wait_for curl -s -o /dev/null http://127.0.0.1:18921/
printf '[notes]\nlisten = 127.0.0.1:18921\ndatabase = notes.db\nworkers = 2\n' > notes.ini
stage deploy curl -s -f --max-time 5 http://127.0.0.1:18921/health
keep 03-config.ini notes.ini
curl --version > ver.txt; head -n 1 ver.txt > "$OUT/04-environment.txt"
kill $pid
exit 0
