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

printf 'bind 127.0.0.1\nport 6379\nmaxmemory 2mb\nmaxmemory-policy noeviction\ntimeout 0\ntcp-keepalive 300\nsave ""\n' > redis.conf
redis-server redis.conf --dir . > redis.log 2>&1 &
rd_pid=$!
wait_for grep -q "Ready to accept" redis.log
cat > import.sh <<'X'
echo "import: 6000 prices from prices.tsv"
for i in $(seq 1 6000); do printf 'set price:%05d "%0200d"\n' $i $i; done > cmds
redis-cli < cmds > replies 2>&1
echo "import: warning: prices.tsv has no header, assuming columns sku, price"
ok=$(redis-cli exists price:06000)
echo "import: spot check of price:06000: $ok"
if [ "$ok" != 1 ]; then echo "import: error: price:06000 not found after import, source file incomplete?"; exit 4; fi
X
stage load bash import.sh
keep 05-source.sh import.sh
keep 03-config.conf redis.conf
{ for s in memory stats errorstats; do echo "\$ redis-cli info $s"; redis-cli info $s | tr -d '\r' | grep -E '^(used_memory|maxmemory|mem_fragmentation|total_commands|rejected|evicted|expired_keys|errorstat|total_error|keyspace)' ; done; } > "$OUT/04-environment.txt"
kill $rd_pid
exit 0
