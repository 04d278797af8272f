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

cproj 18
sed -i '1a #include <hwmon/sensor.h>' src/unit04.c
cat > Makefile <<'X'
CFLAGS = -O1 -Wall -Wextra -Iinclude
OBJS = $(patsubst src/%.c,obj/%.o,$(sort $(wildcard src/*.c)))

libunits.a: $(OBJS)
	ar rcs $@ $^

obj/%.o: src/%.c
	@mkdir -p obj
	$(CC) $(CFLAGS) -c -o $@ $<
X
{ echo "\$ ls include /usr/include/hwmon"; ls include /usr/include/hwmon; echo "\$ gcc -dumpfullversion"; gcc -dumpfullversion; } > "$OUT/03-environment.txt" 2>&1
stage build make -k libunits.a
keep 04-source.mk Makefile
exit 0
