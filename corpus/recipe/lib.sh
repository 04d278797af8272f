# Sourced by every run.sh as: . "$LIB"
# The builder gives: WORK (fresh folder, the working directory), OUT (where
# evidence goes), RECIPE (the recipe's own folder, read only by habit), VARIANT
# (empty, or one of recipe.yaml's variants), HOME=$WORK/home, LANG=C.UTF-8,
# TZ=UTC. The network is loopback only; all processes end with the script.
#
# Evidence files are $OUT/NN-<source>.<ext>, NN from 01 up, sources:
# stage_record stage_output service_log config environment history source data.
# Never write a tool's words by hand: run the tool and keep what it says.
set -u
umask 022

_json() { # a JSON string of $1
  local s=$1
  s=${s//\\/\\\\}; s=${s//\"/\\\"}; s=${s//$'\n'/\\n}; s=${s//$'\t'/\\t}
  printf '"%s"' "$s"
}

# stage NAME CMD...: run the command that fails. NAME is build, test, deploy,
# load, serve or sync. Its output goes verbatim to 02-stage_output.log (left out
# when it says nothing), what ran and how it ended to 01-stage_record.json.
# STAGE_TIMEOUT (seconds, 60) ends it with exit code 124. Returns 0.
stage() {
  local name=$1 rc=0 t0 t1
  shift
  case $name in build|test|deploy|load|serve|sync) ;; *) echo "stage: bad name $name" >&2; exit 90 ;; esac
  t0=$(date +%s%N)
  timeout --kill-after=2 "${STAGE_TIMEOUT:-60}" "$@" >"$OUT/02-stage_output.log" 2>&1 </dev/null || rc=$?
  t1=$(date +%s%N)
  [ -s "$OUT/02-stage_output.log" ] || rm -f "$OUT/02-stage_output.log"
  printf '{"stage":"%s","command":%s,"exit_code":%d,"duration_s":%d.%02d}\n' "$name" "$(_json "$*")" "$rc" \
    $(((t1 - t0) / 1000000000)) $(((t1 - t0) / 10000000 % 100)) >"$OUT/01-stage_record.json"
  STAGE_RC=$rc
}

# keep NN-source.ext FILE [LINES]: keep a file as evidence, verbatim; with LINES
# only its last so many lines, as a log collector would.
keep() {
  if [ $# -gt 2 ]; then tail -n "$3" -- "$2" >"$OUT/$1"; else cat -- "$2" >"$OUT/$1"; fi
}

# show NN-source.ext CMD...: append "$ CMD" and what it says. Any exit code.
show() {
  local f=$1
  shift
  { printf '$ %s\n' "$*"; "$@" 2>&1 </dev/null || true; } >>"$OUT/$f"
}

# as_user CMD...: run without root's rights (uid 65534), so that modes count.
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"; }

# wait_for CMD...: until it succeeds, 15 seconds at most.
wait_for() {
  local i
  for i in $(seq 150); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done
  echo "wait_for: gave up on: $*" >&2
  return 1
}

# free_port: a loopback port nobody listens on.
free_port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }
