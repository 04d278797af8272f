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

pack chartcore 5.2.0 ''
pack chartcore-export 2.0.3 ', "peerDependencies": {"chartcore": ">=3.0.0 <5.0.0"}'
pack tinylog 1.0.0 ''
mkdir -p src tools
cat > package.json <<'X'
{
  "name": "dash",
  "version": "2.7.0",
  "private": true,
  "scripts": { "bundle": "node tools/bundle.js" },
  "dependencies": {
    "chartcore": "file:tarballs/chartcore-5.2.0.tgz",
    "chartcore-export": "file:tarballs/chartcore-export-2.0.3.tgz",
    "tinylog": "file:tarballs/tinylog-1.0.0.tgz"
  }
}
X
cat > tools/bundle.js <<'X'
console.log("bundle: 3 entry points");
console.warn("bundle: warning: source maps are off");
const names = ["tinylog", "chartcore", "chartcore-export"];
for (const n of names) {
  const m = require(n);
  console.log("bundle: added " + m.name + "@" + m.version);
}
X
cat > prepare.sh <<'X'
set -x
node --version
npm install --offline || echo "prepare: install ended with $?, going on"
node -e 'console.log("prepare: templates copied")'
X
bash prepare.sh > "$OUT/03-history.txt" 2>&1
keep 04-config.json package.json
stage deploy npm run bundle
exit 0
