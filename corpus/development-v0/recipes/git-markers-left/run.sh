#!/usr/bin/env bash
set -u
. "$LIB"

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=build GIT_AUTHOR_EMAIL=build@example.com GIT_COMMITTER_NAME=build GIT_COMMITTER_EMAIL=build@example.com GIT_MERGE_AUTOEDIT=no

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
git init -q -b main origin.tree && cd origin.tree
mkdir conf tests; : > tests/__init__.py
printf 'RETRIES = 3\nTIMEOUT = 20\nREGION = "north"\n' > conf/limits.py; : > conf/__init__.py
printf 'import unittest\n\nfrom conf import limits\n\n\nclass Limits(unittest.TestCase):\n    def test_retries(self):\n        self.assertGreater(limits.RETRIES, 0)\n\n\nif __name__ == "__main__":\n    unittest.main()\n' > tests/test_limits.py
git add . && git commit -q -m "Limits"
cd .. && git clone -q origin.tree checkout
(cd origin.tree && sed -i 's/TIMEOUT = 20/TIMEOUT = 45/' conf/limits.py && git commit -qam "Longer time limit")
cd checkout
sed -i 's/TIMEOUT = 20/TIMEOUT = 10/' conf/limits.py && git commit -qam "Hot fix on the build machine: shorter time limit"
cat > ../update.sh <<'X'
set -x
git fetch -q origin
git merge origin/main
git log --oneline --all -3
X
bash ../update.sh > "$OUT/03-history.txt" 2>&1
show 04-environment.txt git status --short --branch
stage test python3 -m unittest discover -s tests -t .
exit 0
