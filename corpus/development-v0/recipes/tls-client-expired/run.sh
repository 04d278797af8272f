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

# tls_make NAME NOT-BEFORE NOT-AFTER: a key and a certificate of our own authority, times as YYMMDDHHMMSSZ
tls_ca() {
  mkdir -p ca && : > ca/index.txt && echo 01 > ca/serial
  printf "[ca]\ndefault_ca=d\n[d]\ndatabase=ca/index.txt\nserial=ca/serial\nnew_certs_dir=ca\ncertificate=ca/ca.pem\nprivate_key=ca/ca.key\ndefault_md=sha256\npolicy=p\nunique_subject=no\ncopy_extensions=copy\n[p]\ncommonName=supplied\n" > ca/ca.cnf
  openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=Example Internal CA" -keyout ca/ca.key -out ca/ca.pem 2>/dev/null
}
tls_make() {
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -addext "subjectAltName=DNS:$1,IP:127.0.0.1" -keyout "$1.key" -out "$1.csr" 2>/dev/null
  openssl ca -batch -config ca/ca.cnf -in "$1.csr" -out "$1.pem" -startdate "$2" -enddate "$3" -notext > /dev/null 2>&1
}

tls_ca; tls_make localhost 260101000000Z 360101000000Z; tls_make publisher 240601000000Z 250601000000Z
ng_conf site.conf 'listen 127.0.0.1:8443 ssl;' "ssl_certificate $WORK/localhost.pem;" "ssl_certificate_key $WORK/localhost.key;" "ssl_client_certificate $WORK/ca/ca.pem;" 'ssl_verify_client on;' 'location /upload {' '    return 201 "stored\n";' '}'
nginx -p . -c site.conf -g 'user root;' > start.log 2>&1
sleep 0.3; : > logs/error.log
echo '{"release": "5.1", "files": 12}' > manifest.json
cat > publish.sh <<'X'
echo "publish: 5.1, manifest of 12 files"
curl -sS -f --cacert ca/ca.pem --cert publisher.pem --key publisher.key -H 'Content-Type: application/json' --data @manifest.json https://localhost:8443/upload || { rc=$?; echo "publish: server rejects manifest.json as malformed (exit $rc)"; exit 1; }
X
stage deploy bash publish.sh
keep 05-config.conf site.conf
keep 03-service_log.log logs/error.log
keep 04-data.json manifest.json
kill "$(cat run/nginx.pid)"
exit 0
