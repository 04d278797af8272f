#!/usr/bin/env bash
set -u
. "$LIB"

mkdir -p src out
printf 'public class Valve {\n    public static void main(String[] a) { System.out.println("valve"); }\n}\n' > src/Valve.java
stage build javac --release 25 -d out src/Valve.java
keep 03-source.java src/Valve.java
exit 0
