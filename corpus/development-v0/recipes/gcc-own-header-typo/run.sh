#!/usr/bin/env bash
set -u
. "$LIB"


# cproj N: N small translation units with unused parameters and sign compares.
cproj() {
  mkdir -p src include
  local i n
  for i in $(seq 1 "$1"); do
    n=$(printf "%02d" "$i")
    cat > src/unit$n.c <<X
#include "unit.h"

static int weight_$n(int a, unsigned b) { return a < b ? a : (int)b; }

int unit_$n(int x, int spare)
{
    unsigned limit = ${i}u * 8u;
    return weight_$n(x, limit);
}
X
  done
  { echo "#ifndef UNIT_H"; echo "#define UNIT_H"; for i in $(seq 1 "$1"); do printf "int unit_%02d(int x, int spare);\n" $i; done; echo "#endif"; } > include/unit.h
}

cproj 6
cat > include/ring_buffer.h <<'X'
#ifndef RING_BUFFER_H
#define RING_BUFFER_H
struct ring { unsigned head, tail, size; };
#endif
X
printf '#include "ring_buffer.h"\n\nunsigned ring_used(const struct ring *r) { return r->head - r->tail; }\n' > src/ring.c
printf '#include "unit.h"\n#include "ring_bufer.h"\n\nunsigned drain(struct ring *r) { unsigned n = 0; while (r->tail != r->head) { r->tail++; n++; } return n; }\n' > src/drain.c
cat > Makefile <<'X'
CFLAGS = -O1 -Wall -Wextra -Iinclude
OBJS = $(patsubst src/%.c,obj/%.o,$(sort $(wildcard src/*.c)))

all: libring.a
libring.a: $(OBJS)
	ar rcs $@ $^

obj/%.o: src/%.c
	@mkdir -p obj
	$(CC) $(CFLAGS) -c -o $@ $<
X
{ echo "\$ ls include src"; ls include src; echo; echo "\$ head -n 4 src/drain.c src/ring.c"; head -n 4 src/drain.c src/ring.c; } > "$OUT/03-source.txt"
stage build make -k all
exit 0
