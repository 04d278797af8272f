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

mkdir -p packages tools
for p in auth billing catalog gateway mailer; do
  mkdir -p packages/$p
  s='"check:types"'; [ $p = billing ] && s='"types:check"'
  cat > packages/$p/package.json <<X
{
  "name": "@shop/$p",
  "version": "4.1.0",
  "scripts": { $s: "node ../../tools/types.js $p" }
}
X
done
cat > tools/types.js <<'X'
const fs = require("fs");
const p = process.argv[2];
for (let i = 1; i <= 24; i++) console.log(p + "/src/part" + i + ".ts ok");
process.emitWarning(p + ": option 'loose' will be removed in 5.0", "DeprecationWarning");
fs.appendFileSync("../../types.done", p + "\n");
X
printf '{"name": "shop", "version": "4.1.0", "private": true, "workspaces": ["packages/*"]}\n' > package.json
cat > pipeline.yml <<'X'
stages:
  - name: types
    run: npm run check:types --workspaces
  - name: release-check
    needs: [types]
    expect: 5
X
cat > ci.sh <<'X'
npm run check:types --workspaces
n=$(wc -l < types.done)
echo "release-check: $n of 5 packages have a types report"
if [ "$n" -ne 5 ]; then echo "release-check: error: reports incomplete, refusing to tag 4.1.0"; exit 3; fi
X
keep 03-config.yml pipeline.yml
stage test bash ci.sh
show 04-data.txt cat types.done
exit 0
