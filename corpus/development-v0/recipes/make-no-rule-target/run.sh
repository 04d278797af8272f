#!/usr/bin/env bash
set -u
. "$LIB"

mkdir -p src dist
printf 'int main(void) { return 0; }\n' > src/main.c
cat > Makefile <<'X'
all: bin/gauge
bin/gauge: src/main.c
	@mkdir -p bin
	$(CC) -O1 -o $@ $<
package-release: bin/gauge
	tar -C bin -cf dist/gauge.tar gauge
clean:
	rm -rf bin dist/*.tar
X
cat > publish.ini <<'X'
[publish]
clean_target = clean
build_target = all
package_target = release-package
archive = dist/gauge.tar
channel = stable
X
cat > publish.sh <<'X'
get() { sed -n "s/^$1 = //p" publish.ini; }
log=publish.log
for step in clean build package; do
  echo "publish: step $step"
  echo "[$step] make $(get ${step}_target)" >> $log
  make "$(get ${step}_target)" >> $log 2>&1
done
a=$(get archive)
if [ ! -f "$a" ]; then
  echo "publish: error: $a: no such file"
  echo "publish: upload to channel $(get channel) aborted"
  exit 1
fi
X
stage deploy bash publish.sh
keep 03-service_log.log publish.log
keep 04-config.ini publish.ini
show 05-environment.txt ls -l dist bin
exit 0
