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
mkdir conf && printf 'Quiet-Lantern-7\n' > conf/queue.pass
printf '[queue]\nhost = 127.0.0.1\nport = 6379\npasword_file = conf/queue.pass\nlist = jobs\nprefetch = 4\n' > worker.ini
cat > worker.sh <<'X'
get() { sed -n "s/^$1 = //p" worker.ini; }
f=$(get password_file)
[ -n "$f" ] && export REDISCLI_AUTH=$(cat "$f")
echo "worker: queue $(get list) at $(get host):$(get port), prefetch $(get prefetch)"
redis-cli -e -h "$(get host)" -p "$(get port)" llen "$(get list)" || { echo "worker: cannot read queue, giving up"; exit 1; }
X
stage serve bash worker.sh
keep 06-service_log.log redis.log
keep 03-config.ini worker.ini
keep 04-source.sh worker.sh
show 05-environment.txt ls -l --time-style=+%F conf
kill $rd_pid
exit 0
