#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/sbin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
mkdir src
python3 - <<'X'
with open("src/table.c", "w") as f:
    f.write("#include \"defs.h\"\n\n")
    for i in range(9000):
        f.write(f"static double f{i}(double x) {{ double y = x * {i}.5; for (int k = 0; k < {i % 97}; k++) y += k * x; return y; }}\n")
    f.write("double (*const table[])(double) = {\n" + ",\n".join(f"    f{i}" for i in range(9000)) + "\n};\n")
open("src/defs.h", "w").write("extern double (*const table[])(double);\n")
for n in range(1, 27):
    open(f"src/part{n}.c", "w").write(f'#include "defs.h"\n\ndouble part{n}(int unused, double x) {{ return table[{n}](x); }}\n')
open("src/main.c", "w").write('#include <stdio.h>\n' + "".join(f"double part{n}(int, double);\n" for n in range(1, 27)) + 'int main(void) { printf("%f\\n", part1(0, 2.0)); return 0; }\n')
X
cat > Makefile <<'X'
CFLAGS = -O2 -Wall -Wextra
objs: $(patsubst src/%.c,obj/%.o,$(sort $(wildcard src/*.c)))
obj/%.o: src/%.c
	@mkdir -p obj
	$(CC) $(CFLAGS) -c -o $@ $<
X
cat > build.sh <<'X'
make -k objs
echo "build: linking"
cc -o tool obj/main.o obj/part?.o obj/part??.o obj/table.o
X
ulimit -v 160000
{ echo "\$ ulimit -a"; ulimit -a | grep -E 'open files|virtual memory|cpu time|file size|stack'; } > "$OUT/03-environment.txt"
stage build bash build.sh
keep 04-source.mk Makefile
exit 0
