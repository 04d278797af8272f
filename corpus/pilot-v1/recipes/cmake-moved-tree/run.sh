. "$LIB"
mkdir -p release-41
cat >release-41/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.16)
project(gauge C)
option(GAUGE_TRACE "trace every reading" OFF)
add_executable(gauge main.c)
install(TARGETS gauge DESTINATION bin)
C
printf '#include <stdio.h>\nint main(void) { puts("gauge 41"); return 0; }\n' >release-41/main.c
cmake -S release-41 -B build >first.log 2>&1
cp -r release-41 release-42 && sed -i 's/gauge 41/gauge 42/' release-42/main.c
stage build cmake -S release-42 -B build
keep 03-source.txt release-42/CMakeLists.txt
show 04-environment.txt cmake --version
show 04-environment.txt ls -1 build
show 05-history.txt cat first.log
