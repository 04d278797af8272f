#!/usr/bin/env bash
set -u
. "$LIB"

cat > probe.c <<'X'
#include <stdio.h>
#include <fastlz4/frame.h>

int main(void) { printf("%d\n", fastlz4_version()); return 0; }
X
stage build gcc -O2 -o probe probe.c
keep 03-source.c probe.c
exit 0
