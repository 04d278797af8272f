#!/usr/bin/env bash
set -u
. "$LIB"

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=build GIT_AUTHOR_EMAIL=build@example.com GIT_COMMITTER_NAME=build GIT_COMMITTER_EMAIL=build@example.com
for r in docs site tools infra; do
  git init -q -b main --bare hub-$r.git
  git clone -q hub-$r.git $r 2>/dev/null
  (cd $r && echo 1 > f && git add f && git commit -q -m one && git push -q origin main)
done
git clone -q hub-tools.git other && (cd other && echo 2 > g && git add g && git commit -q -m two && git push -q origin main)
for r in docs site tools infra; do (cd $r && echo 3 > h && git add h && git commit -q -m three); done
cat > mirror.sh <<'X'
bad=0
for r in docs site tools infra; do
  git -C $r push -q origin main > /dev/null 2>&1
  rc=$?
  echo "mirror: $r: $rc"
  [ $rc = 0 ] || bad=$((bad + 1))
done
echo "mirror: $bad of 4 failed"
exit $bad
X
stage sync bash mirror.sh
keep 04-config.txt tools/.git/config
show 03-environment.txt git --version
exit 0
