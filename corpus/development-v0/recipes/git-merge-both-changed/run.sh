#!/usr/bin/env bash
set -u
. "$LIB"

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=build GIT_AUTHOR_EMAIL=build@example.com GIT_COMMITTER_NAME=build GIT_COMMITTER_EMAIL=build@example.com GIT_MERGE_AUTOEDIT=no

git init -q -b main repo && cd repo
printf 'port = 80\nworkers = 2\n' > app.ini && git add . && git commit -q -m "Settings"
git switch -q -c feature && sed -i 's/workers = 2/workers = 8/' app.ini && git commit -qam "More workers"
git switch -q main && sed -i 's/workers = 2/workers = 3/' app.ini && git commit -qam "One more worker"
stage build git merge feature
show 03-history.txt git log --oneline --all
exit 0
