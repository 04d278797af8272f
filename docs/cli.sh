#!/usr/bin/env bash
# Writes docs/cli.md from the help of a built assay: docs/cli.sh BINARY
set -euo pipefail
assay=$(realpath "$1")
say() { env -i "$assay" "$@" --help; }

# Commands below the one given, in the help's order.
below() {
  say "$@" | awk '/^Available Commands:/ {on = 1; next} /^$/ {on = 0} on {print $1}' | grep -vx -e help -e completion || true
}
leaves() {
  local sub
  for sub in $(below "$@"); do
    if [ -n "$(below "$@" "$sub")" ]; then leaves "$@" "$sub"; else echo "$* $sub" | sed 's/^ //'; fi
  done
}
short() { # the one line that the parent's help gives it
  local parent=("$@") name=${!#}
  unset 'parent[-1]'
  say ${parent[@]+"${parent[@]}"} | awk -v n="$name" '/^Available Commands:/ {on = 1; next} /^$/ {on = 0} on && $1 == n {sub(/^ *[^ ]+ +/, ""); print}'
}

cat <<'HEAD'
# Commands

Written by `make cli-docs` from the binary's own help; not edited by hand.

| command | what it does |
|---|---|
HEAD
mapfile -t all < <(leaves)
for c in "${all[@]}"; do
  # shellcheck disable=SC2086 # a command is words
  echo "| [\`assay $c\`](#assay-${c// /-}) | $(short $c) |"
done
cat <<'EXIT'

## Exit codes

| code | meaning |
|---|---|
| 0 | qualified, or the command did what it was asked to |
| 1 | not qualified |
| 2 | the command was called wrongly |
| 3 | inconclusive |
| 4 | blocked: a safety gate failed |
| 5 | infrastructure: a server, a build or a download failed |
| 6 | a frozen input changed, or something is invalid or can't be verified |
| 130 | interrupted; the journal is kept and `assay resume latest` goes on |

An error is one line on standard error that says what, where and what to do. Standard output holds results only; with `--format json` as JSON.

## Flags that every command takes

EXIT
echo '```'
say version | sed -n '/^Global Flags:/,$p' | tail -n +2
echo '```'
cat <<'TWINS'

They and the flags of a run have twins in the environment, such as `ASSAY_RUNS` for `--runs` and `ASSAY_JOBS` for `-j`; a flag on the command line wins. `OLLAMA_HOST` is honoured. `ASSAY_CACHE` and `ASSAY_STATE` say where builds, weights and models are kept, and where the record of looks at frozen corpora is.
TWINS
for c in "${all[@]}"; do
  printf '\n## assay %s\n\n```\n' "$c"
  # shellcheck disable=SC2086
  say $c | sed '/^Global Flags:/,$d' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
  echo '```'
done
