. "$LIB"
mkdir -p tools docs dist
cat >tools/pack.sh <<'S'
#!/bin/sh
set -e
while read -r f; do cp "$f" dist/; done <tools/contents.lst
tar czf dist/manual.tgz docs
S
chmod +x tools/pack.sh
for i in $(seq -w 48); do printf '# Chapter %s\n\nText.\n' $i >docs/chapter$i.md; done
cat >Makefile <<'M'
VERSION := 5.3.0
CHAPTERS := $(sort $(wildcard docs/*.md))

.PHONY: all check pack
all: pack

check:
	@for f in $(CHAPTERS); do test -s $$f && echo "check: $$f ok"; done

pack: check
	@echo "pack: manual $(VERSION)"
	@tools/pack.sh $(VERSION) >dist/pack.log 2>&1
	@echo "pack: done"
M
git init -q . && git config user.name dev && git config user.email dev@example.com
git add Makefile docs && GIT_COMMITTER_DATE='2024-05-02T10:00:00Z' git commit -q --date 2024-05-02T10:00:00Z -m 'Manual 5.3.0: chapters 47 and 48'
stage build make all
show 03-history.txt git log --format='%ad %s' --date=short
keep 04-config.txt Makefile
show 05-environment.txt make --version
show 05-environment.txt df -h "$WORK"
