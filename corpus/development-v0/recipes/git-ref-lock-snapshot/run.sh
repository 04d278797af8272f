#!/usr/bin/env bash
set -u
. "$LIB"

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=build GIT_AUTHOR_EMAIL=build@example.com GIT_COMMITTER_NAME=build GIT_COMMITTER_EMAIL=build@example.com GIT_MERGE_AUTOEDIT=no

git init -q -b main repo && cd repo && mkdir metrics && echo 0 > metrics/day && git add . && git commit -q -m "Day 0"
: > .git/index.lock; touch -d '2026-02-11 03:14:09' .git/index.lock
for i in $(seq 1 9); do echo $((i*31)) > metrics/series-$i; done; echo 1 > metrics/day
cat > snapshot.sh <<'X'
log() { echo "$(date -u +%FT%TZ) $*" >> ../snapshot.log; }
log "snapshot start, pid $$"
log "warn: metrics/day is older than 24 h"
for f in metrics/*; do
  log "add $f"
  git add "$f" >> ../snapshot.log 2>&1 || log "add $f: exit $?"
done
n=$(git diff --cached --name-only | wc -l)
log "staged $n files"
echo "snapshot: $n files staged"
if [ "$n" -eq 0 ]; then echo "snapshot: error: change set is empty but 10 series were due; upstream exporter idle?"; exit 5; fi
git commit -q -m "Snapshot"
X
cp snapshot.sh ../snapshot.sh; rm snapshot.sh
stage sync bash ../snapshot.sh
keep 05-config.txt .git/config
keep 03-service_log.log ../snapshot.log
show 04-environment.txt ls -l --time-style=long-iso .git
exit 0
