#!/usr/bin/env bash
set -u
. "$LIB"

mkdir -p src out
for c in Pump Tank Meter; do printf 'public class %s {\n    int level;\n}\n' $c > src/$c.java; done
cat > build.sh <<'X'
echo "build: 3 sources, 1 module"
for c in Pump Tank Meter; do
  echo "build: compiling $c.java"
done
javac --release 24 -d out src/*.java > compile.log 2>&1
rc=$?
echo "build: finished with $rc errors or warnings, details in compile.log"
exit $rc
X
stage build bash build.sh
show 03-environment.txt ls -l --time-style=+%F src
exit 0
