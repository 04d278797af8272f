#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/sbin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
mkdir tests
printf 'import unittest\nimport wavetable\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        pass\n' > tests/test_wave.py
cat > Makefile <<'X'
check: lint
	@python3 -m unittest discover -s tests > check.log 2>&1
lint:
	@echo "lint: 14 files, 2 notes"
X
keep 03-source.mk Makefile
stage test make check
show 04-environment.txt make --version
exit 0
