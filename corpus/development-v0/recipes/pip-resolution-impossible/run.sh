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

mkwheel wirefmt 1.8.0 "" "" ; mkwheel wirefmt 2.1.0 "" ""
mkwheel quaycli 4.0.1 "wirefmt>=2.0" "" ; mkwheel depotsync 0.7.3 "wirefmt<2.0" ""
printf 'quaycli==4.0.1\ndepotsync==0.7.3\n' > requirements.txt
stage build python3 -m pip install --target site -r requirements.txt
keep 03-config.txt requirements.txt
exit 0
