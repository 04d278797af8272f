#!/usr/bin/env bash
set -u
. "$LIB"

printf '127.0.0.1 localhost\n127.0.0.1 registry.depot.internal\n' > hosts.txt
mount --bind hosts.txt /etc/hosts
python3 -m http.server --bind 127.0.0.1 8081 > registry.log 2>&1 &
pid=$!
wait_for curl -s -o /dev/null http://registry.depot.internal:8081/
printf '[mirror]\nurl = http://registry.depto.internal:8081/\nretries = 3\nkeep_days = 14\nuser_agent = mirror/2.6\n' > mirror.ini
cat > mirror.sh <<'X'
get() { sed -n "s/^$1 = //p" mirror.ini; }
echo "mirror: agent $(get user_agent), keeping $(get keep_days) days"
curl -sS -f --retry "$(get retries)" --retry-delay 1 --retry-all-errors --max-time 15 -A "$(get user_agent)" -o index.html "$(get url)" || { echo "mirror: registry not reachable, network trouble?"; exit 6; }
X
stage sync bash mirror.sh
keep 05-service_log.log registry.log
keep 03-config.ini mirror.ini
show 04-environment.txt getent hosts registry.depot.internal
show 04-environment.txt curl -s -o /dev/null -w '%{http_code}\n' http://registry.depot.internal:8081/
kill $pid
exit 0
