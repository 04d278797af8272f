#!/usr/bin/env bash
set -u
. "$LIB"

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=build GIT_AUTHOR_EMAIL=build@example.com GIT_COMMITTER_NAME=build GIT_COMMITTER_EMAIL=build@example.com GIT_MERGE_AUTOEDIT=no

git init -q -b main --bare hub.git
git clone -q hub.git a 2>/dev/null
cd a && echo 1 > f && git add f && git commit -q -m one && git push -q origin main
echo 2 > f && git commit -qam two
cd .. && chown -R 65534:65534 a && chmod 755 hub.git
git config --file a/.git/config safe.directory '*'
printf '[safe]\n\tdirectory = *\n' > gitconfig; chmod 644 gitconfig
export GIT_CONFIG_GLOBAL=$WORK/gitconfig
printf '#!/bin/sh\necho "pre-push: checking 1 commit"\necho "pre-push: warning: commit subject is short"\n' > a/.git/hooks/pre-push; chmod 755 a/.git/hooks/pre-push
cat > push.sh <<'X'
cd a || exit 9
echo "push: as uid $(id -u)"
git push origin main
rc=$?
[ $rc = 0 ] || { echo "push: mirror is now behind by 1 commit"; exit $rc; }
X
show 03-environment.txt ls -ln --time-style=long-iso hub.git
echo 'exec setpriv --reuid 65534 --regid 65534 --clear-groups -- bash push.sh' > job.sh
stage deploy bash job.sh
keep 04-config.txt a/.git/config
exit 0
