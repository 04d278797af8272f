#!/usr/bin/env bash
set -u
. "$LIB"

mkdir -p src vendor
printf 'int main(void) { return 0; }\n' > src/main.c
cat > Makefile <<'X'
gauge: obj/main.o vendor/libpolyfit/libpolyfit.a
	$(CC) -o $@ $^

obj/%.o: src/%.c
	@mkdir -p obj
	$(CC) -c -o $@ $<
X
show 03-environment.txt ls -A . vendor
stage build make gauge
keep 04-source.mk Makefile
exit 0
