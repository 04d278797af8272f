#!/usr/bin/env bash
set -u
. "$LIB"

stage sync curl -sSf -o tool.tar.gz --max-time 20 https://artifacts.build.example/tool/3.1/tool.tar.gz
exit 0
