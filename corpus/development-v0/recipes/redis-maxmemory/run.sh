#!/usr/bin/env bash
set -u
. "$LIB"

# rd_up OPTIONS...: a redis server on 127.0.0.1:6379
rd_up() {
  mkdir -p rd
  redis-server --bind 127.0.0.1 --port 6379 --dir rd --save "" --appendonly no "$@" > redis.log 2>&1 &
  rd_pid=$!
  wait_for grep -q "Ready to accept" redis.log
}

rd_up --maxmemory 4mb --maxmemory-policy noeviction
for i in $(seq 1 3000); do printf 'set page:%d "%0200d"\n' $i $i; done | redis-cli > /dev/null
redis-cli config set maxmemory 1200kb > /dev/null
stage load redis-cli -e set session:18 active
show 03-environment.txt redis-server --version
kill $rd_pid
exit 0
