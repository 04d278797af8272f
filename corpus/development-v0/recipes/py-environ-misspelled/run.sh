#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
mkdir -p conf
cat > conf/ledger.env <<'X'
# settings of ledger-sync, see README "Settings"
LEDGER_REGION=eu-north
LEGDER_DSN=file:ledger.db
LEDGER_BATCH=200
LEDGER_TIMEOUT_S=30
X
cat > sync.py <<'X'
import os


class Settings:
    def __init__(self, env):
        self.region = env["LEDGER_REGION"]
        self.batch = int(env.get("LEDGER_BATCH", "100"))
        self.dsn = env["LEDGER_DSN"]


def main():
    print("ledger-sync 0.14.1")
    print("note: LEDGER_BATCH above 100 is experimental")
    s = Settings(os.environ)
    print("connected to", s.dsn)


main()
X
cat > run-sync.sh <<'X'
set -a; . conf/ledger.env; set +a
exec python3 sync.py
X
cp conf/ledger.env "$OUT/03-config.env"
printf 'LEDGER_REGION=eu-north\nLEDGER_DSN=file:ledger.db\nLEDGER_BATCH=100\n' > conf/staging.env
settings() { ( set -a; . "conf/$1.env"; set +a; env | grep -E '^LE' | sort ); }
{ echo "staging (last run ok):"; settings staging; echo; echo "production (this run):"; settings ledger; } > "$OUT/04-environment.txt"
stage sync bash run-sync.sh
keep 05-source.py sync.py
exit 0
