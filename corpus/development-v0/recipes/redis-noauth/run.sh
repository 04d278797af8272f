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

rd_up --requirepass Quiet-Lantern-7
stage sync redis-cli -e lpush jobs reindex
keep 03-service_log.log redis.log
kill $rd_pid
exit 0
