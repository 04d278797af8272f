#!/usr/bin/env bash
set -u
. "$LIB"

mkdir -p src
printf '[package]\nname = "tidegate"\nversion = "0.3.0"\nedition = "2027"\n\n[dependencies]\n' > Cargo.toml
printf 'fn main() {\n    println!("tidegate");\n}\n' > src/main.rs
stage build cargo build --offline
keep 03-config.toml Cargo.toml
exit 0
