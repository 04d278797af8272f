#!/usr/bin/env bash
set -u
. "$LIB"

export npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false npm_config_offline=true npm_config_logs_max=0
# pack NAME VERSION EXTRA-JSON: a local package as tarballs/NAME-VERSION.tgz
pack() {
  mkdir -p ".src/$1-$2" tarballs
  printf "{\"name\": \"%s\", \"version\": \"%s\", \"main\": \"index.js\"%s}\n" "$1" "$2" "$3" > ".src/$1-$2/package.json"
  echo "module.exports = { name: \"$1\", version: \"$2\" };" > ".src/$1-$2/index.js"
  (cd tarballs && npm pack --silent "../.src/$1-$2" > /dev/null)
}

cat > package.json <<'X'
{
  "name": "portal",
  "version": "1.3.2",
  "private": true,
  "scripts": {
    "build": "node -e 0",
    "test:unit": "node -e 0",
    "lint": "node -e 0"
  }
}
X
stage test npm run test:units
show 03-environment.txt npm --version
exit 0
