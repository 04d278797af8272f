#!/usr/bin/env bash
set -u
. "$LIB"

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=build GIT_AUTHOR_EMAIL=build@example.com GIT_COMMITTER_NAME=build GIT_COMMITTER_EMAIL=build@example.com GIT_MERGE_AUTOEDIT=no

git init -q -b main --bare hub.git
git clone -q hub.git a 2>/dev/null && (cd a && echo 1 > f && git add f && git commit -q -m one && git push -q origin main)
git clone -q hub.git b && (cd b && echo 2 > g && git add g && git commit -q -m two && git push -q origin main)
cd a && echo 3 > h && git add h && git commit -q -m three
stage deploy git push origin main
show 03-history.txt git log --oneline -2
keep 04-config.txt .git/config
exit 0
