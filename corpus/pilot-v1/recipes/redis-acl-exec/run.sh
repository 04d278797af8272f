. "$LIB"
cat >store.conf <<C
port 6390
bind 127.0.0.1
dir $WORK
save ""
appendonly no
maxmemory 64mb
maxmemory-policy allkeys-lru
logfile $WORK/store.log
user default on nopass ~* &* +@all
user rollout on >r0-deploy ~release:* &* +@connection +multi +exec +discard +set +get +incr +hset
C
redis-server store.conf &
wait_for redis-cli -p 6390 ping
cat >activate.txt <<'T'
MULTI
SET release:current 2024.11.2
HSET release:2024.11.2 state active nodes 6
INCR release:generation
EXPIRE release:2024.11.1 86400
EXEC
T
cat >activate.sh <<'S'
#!/bin/bash
# activate the new release in one transaction; only the verdict is printed
redis-cli -p 6390 --no-auth-warning --user rollout -a r0-deploy <activate.txt >replies.txt 2>&1
tail -n 2 replies.txt
grep -q EXECABORT replies.txt && { echo "activate: release 2024.11.2 was not activated, state unchanged"; exit 4; }
S
chmod +x activate.sh
stage deploy ./activate.sh
show 03-service_log.txt redis-cli -p 6390 acl log
keep 04-source.txt activate.txt
show 05-environment.txt redis-cli -p 6390 info server
show 05-environment.txt redis-cli -p 6390 info memory
