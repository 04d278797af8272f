#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/sbin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
printf 'key\n' > queue.key && chmod 600 queue.key
mkdir logs && chmod 777 logs
printf 'import time\n\ntime.sleep(0.1)\nprint(len(open("queue.key").read()))\n' > worker.py
cat > supervise.py <<'X'
import subprocess
import sys
import time

out = open("logs/supervisor.log", "w")


def say(text):
    print(time.strftime("%H:%M:%S"), text, file=out, flush=True)


say("supervisor: 1 worker, at most 4 starts")
with open("logs/worker.err", "w") as err:
    for n in range(1, 5):
        say(f"worker: start {n}")
        rc = subprocess.run(["/usr/bin/python3", "worker.py"], stdout=err, stderr=err).returncode
        say(f"worker: exited with code {rc} after 0.1 s")
        time.sleep(0.2 * n)
say("supervisor: giving up on worker")
print("serve: worker is not running")
sys.exit(1)
X
echo 'exec setpriv --reuid 65534 --regid 65534 --clear-groups -- python3 supervise.py' > job.sh
stage serve bash job.sh
keep 03-service_log.log logs/supervisor.log
exit 0
