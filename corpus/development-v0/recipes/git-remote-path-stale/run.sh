#!/usr/bin/env bash
set -u
. "$LIB"

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=build GIT_AUTHOR_EMAIL=build@example.com GIT_COMMITTER_NAME=build GIT_COMMITTER_EMAIL=build@example.com GIT_MERGE_AUTOEDIT=no

mkdir -p srv/git/teams/infra
git init -q -b main --bare srv/git/infra.git
git clone -q srv/git/infra.git site 2>/dev/null && (cd site && git remote set-url origin file://$WORK/srv/git/infra.git && echo 1 > f && git add f && git commit -q -m one && git push -q origin main)
{ echo "storage log, repository moves"; echo "\$ mv -v infra.git teams/infra/infra.git"; (cd srv/git && mv -v infra.git teams/infra/infra.git); echo "\$ ls teams/infra"; ls srv/git/teams/infra; } > "$OUT/04-history.txt"
cd site
keep 03-config.txt .git/config
stage sync git pull --ff-only
exit 0
