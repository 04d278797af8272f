. "$LIB"
git init -q src && cd src && git config user.name dev && git config user.email dev@example.com
head -c 900000 /dev/urandom >firmware.bin; echo 7 >REVISION
git add . && git commit -qm 'Firmware 7' && cd ..
mkdir -p srv && git clone -q --bare src srv/firmware.git && touch srv/firmware.git/git-daemon-export-ok
git daemon --base-path="$WORK/srv" --listen=127.0.0.1 --port=9418 --reuseaddr --verbose >daemon.log 2>&1 &
cat >relay.py <<'P'
import select, socket, struct, threading, time
def log(*a): print(time.strftime("%H:%M:%S"), "relay:", *a, flush=True)
LIMIT = 192 * 1024
def serve(c, peer):
    u = socket.create_connection(("127.0.0.1", 9418))
    log("session from %s:%d open" % peer)
    n = 0
    while True:
        for s in select.select([c, u], [], [])[0]:
            d = s.recv(8192)
            if s is c and d:
                u.sendall(d)
            elif not d:
                log("session from %s:%d closed after %d bytes" % (peer[0], peer[1], n)); c.close(); u.close(); return
            else:
                n += len(d); c.sendall(d)
        if n >= LIMIT:
            log("link to peer lost, session from %s:%d reset after %d bytes" % (peer[0], peer[1], n))
            time.sleep(0.3)
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); c.close(); u.close(); return
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", 9500)); s.listen(8); log("ready on 127.0.0.1:9500 for 127.0.0.1:9418")
while True:
    c, peer = s.accept(); threading.Thread(target=serve, args=(c, peer), daemon=True).start()
P
python3 relay.py >relay.log 2>&1 &
wait_for git ls-remote git://127.0.0.1:9418/firmware.git
wait_for git ls-remote git://127.0.0.1:9500/firmware.git
for i in 1 2 3 4 5 6; do git ls-remote git://127.0.0.1:9500/firmware.git >/dev/null; done
stage sync git clone git://127.0.0.1:9500/firmware.git checkout
sleep 0.5
keep 03-service_log.log relay.log
keep 06-service_log.log daemon.log
show 04-environment.txt git --version
show 04-environment.txt git -C srv/firmware.git fsck --full
show 04-environment.txt git -C srv/firmware.git count-objects -v
show 05-history.txt git -C src log --format='%h %s' --shortstat
