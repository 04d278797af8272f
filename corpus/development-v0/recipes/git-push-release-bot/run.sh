#!/usr/bin/env bash
set -u
. "$LIB"

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=build GIT_AUTHOR_EMAIL=build@example.com GIT_COMMITTER_NAME=build GIT_COMMITTER_EMAIL=build@example.com GIT_MERGE_AUTOEDIT=no

git init -q -b main --bare hub.git
git clone -q hub.git ops 2>/dev/null && (cd ops && echo 1.0 > VERSION && git add . && git commit -q -m "Version 1.0" && git push -q origin main)
git clone -q hub.git bot
(cd ops && echo "notes" > NOTES && git add . && git commit -q -m "Release notes by hand" && git push -q origin main)
cd bot
cat > ../release.sh <<'X'
exec 3>&1 >> ../release.log 2>&1
set -x
echo 1.1 > VERSION
git commit -qam "Version 1.1"
git tag v1.1
git push --atomic origin main v1.1
set +x
exec >&3 2>&1
echo "release: building from tag"
git -c advice.detachedHead=false clone -q --branch v1.1 ../hub.git ../build
rc=$?
echo "release: warning: changelog has no entry for 1.1"
[ $rc = 0 ] || { echo "release: cannot build 1.1: checkout of tag failed"; exit 1; }
X
stage deploy bash ../release.sh
keep 04-config.txt .git/config
keep 03-history.txt ../release.log
exit 0
