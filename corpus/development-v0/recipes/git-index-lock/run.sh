#!/usr/bin/env bash
set -u
. "$LIB"

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=build GIT_AUTHOR_EMAIL=build@example.com GIT_COMMITTER_NAME=build GIT_COMMITTER_EMAIL=build@example.com GIT_MERGE_AUTOEDIT=no

git init -q -b main repo && cd repo && echo a > a && git add . && git commit -q -m one
echo b > a; : > .git/index.lock
stage build git commit -am "Nightly snapshot"
exit 0
