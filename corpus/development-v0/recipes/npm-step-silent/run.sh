#!/usr/bin/env bash
set -u
. "$LIB"

export npm_config_update_notifier=false npm_config_logs_max=0
mkdir tools
printf '{"name": "site", "version": "0.8.1", "private": true, "scripts": {"assets": "node tools/assets.js"}}\n' > package.json
printf '["a.css", "b.css",]\n' > assets.json
cat > tools/assets.js <<'X'
const fs = require("fs");
console.log("assets: step 1 of 5: clean");
console.log("assets: step 2 of 5: collect");
try {
  JSON.parse(fs.readFileSync("assets.json", "utf8"));
} catch (e) {
  process.exit(1);
}
X
stage build npm run assets
show 04-environment.txt node --version
keep 03-config.json package.json
exit 0
