#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1

# mkwheel NAME VERSION REQUIRES BODY: a pure wheel in wheels/
mkwheel() {
  python3 - "$@" <<"PY"
import sys, zipfile, os
name, ver, reqs, body = sys.argv[1:5]
os.makedirs("wheels", exist_ok=True)
mod = name.replace("-", "_")
d = f"{mod}-{ver}.dist-info"
meta = f"Metadata-Version: 2.1\nName: {name}\nVersion: {ver}\n" + "".join(f"Requires-Dist: {r}\n" for r in reqs.split(";") if r)
with zipfile.ZipFile(f"wheels/{mod}-{ver}-py3-none-any.whl", "w") as z:
    z.writestr(f"{mod}/__init__.py", body)
    z.writestr(f"{d}/METADATA", meta)
    z.writestr(f"{d}/WHEEL", "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr(f"{d}/RECORD", "")
PY
}
export PIP_NO_INDEX=1 PIP_FIND_LINKS=wheels PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PIP_BREAK_SYSTEM_PACKAGES=1

mkwheel tablekit 1.6.2 "" "def render(rows, strict=False):
    return '\\n'.join(' | '.join(map(str, r)) for r in rows)
"
mkwheel tablekit 2.0.0 "" "def render(rows, *, mode='lenient'):
    return '\\n'.join(' | '.join(map(str, r)) for r in rows)
"
mkwheel stampfmt 0.3.1 "" "def day(n): return 'day %d' % n
"
mkwheel reportlib 5.1.0 "stampfmt>=0.3;tablekit>=1.5" "import stampfmt, tablekit

def daily(rows, strict=True):
    return stampfmt.day(12) + '\\n' + tablekit.render(rows, strict=strict)
"
printf 'reportlib==5.1.0\nstampfmt==0.3.1\ntablekit>=1.5\n' > requirements.txt
python3 -m pip install --target site -r requirements.txt > install.log 2>&1
cat > test_report.py <<'X'
import unittest

import reportlib


class Daily(unittest.TestCase):
    def test_one_row(self):
        self.assertIn("a | 1", reportlib.daily([["a", 1]]))

    def test_two_rows(self):
        self.assertIn("b | 2", reportlib.daily([["a", 1], ["b", 2]]))

    def test_header_first(self):
        self.assertTrue(reportlib.daily([["a", 1]]).startswith("day 12"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
X
{ echo "$ python3 --version"; python3 --version; echo; echo "$ pip list --path site"; python3 -m pip list --path site; } > "$OUT/03-environment.txt" 2>/dev/null
cp requirements.txt "$OUT/04-config.txt"
cat > "$OUT/05-source.txt" <<'X'
tablekit release notes

2.0.0
  * render() takes keyword arguments only
  * render(strict=...) is gone; use render(mode="strict")
  * column widths follow East Asian width

1.6.2
  * fix: empty rows no longer print a separator

1.6.0
  * render() gained strict=
X
PYTHONPATH=site stage test python3 test_report.py
exit 0
