#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/sbin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
mkdir index && chmod 777 index
cat > indexer.py <<'X'
import logging
import threading
import time

logging.basicConfig(filename="index/indexer.log", level=logging.INFO, format="%(asctime)s %(levelname)s indexer %(message)s")
done = threading.Event()


def work(n):
    with open(f"index/shard-{n:02d}", "w") as f:
        f.write("ok\n")
    logging.info("shard %02d written", n)
    done.wait(2)


logging.info("indexer start, 24 shards, one thread each")
for n in range(24):
    try:
        threading.Thread(target=work, args=(n,)).start()
    except RuntimeError as e:
        logging.error("shard %02d: %s", n, e)
time.sleep(0.3)
logging.warning("shard 03 has fewer than 10 documents")
done.set()
X
cat > index.sh <<'X'
ulimit -u 12
{ echo "\$ ulimit -u -n -v"; ulimit -u -n -v; } > index/limits.txt
echo "index: building 24 shards"
python3 indexer.py
echo "index: merging"
for n in $(seq -w 0 23); do
  cat "index/shard-$n" > /dev/null || { echo "index: merge stopped at shard $n"; exit 1; }
done
X
echo 'exec setpriv --reuid 64123 --regid 64123 --clear-groups -- bash index.sh' > job.sh
stage build bash job.sh
keep 03-service_log.log index/indexer.log
keep 04-environment.txt index/limits.txt
exit 0
