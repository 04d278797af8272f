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

pack gridkit 3.0.1 ''
pack gridkit-sort 1.4.0 ', "peerDependencies": {"gridkit": "^2.1.0"}'
cat > package.json <<'X'
{
  "name": "console",
  "version": "0.9.0",
  "private": true,
  "dependencies": {
    "gridkit": "file:tarballs/gridkit-3.0.1.tgz",
    "gridkit-sort": "file:tarballs/gridkit-sort-1.4.0.tgz"
  }
}
X
stage build npm install --offline
keep 03-config.json package.json
exit 0
