#!/usr/bin/env bash
set -u
. "$LIB"

mkdir -p src vendor/wavebuf/src vendor/crcmini/src image
printf '[package]\nname = "tidegate"\nversion = "0.4.0"\nedition = "2021"\n\n[dependencies]\ncrcmini = { path = "vendor/crcmini" }\nwavebuf = { path = "vendor/wavebuf" }\n' > Cargo.toml
printf '[package]\nname = "crcmini"\nversion = "1.1.0"\nedition = "2018"\n' > vendor/crcmini/Cargo.toml
printf 'pub fn crc(b: &[u8]) -> u32 { b.iter().map(|x| *x as u32).sum() }\n' > vendor/crcmini/src/lib.rs
printf '[package]\nname = "wavebuf"\nversion = "3.0.0"\nedition = "2027"\n' > vendor/wavebuf/Cargo.toml
printf 'pub fn len() -> usize { 8 }\n' > vendor/wavebuf/src/lib.rs
printf 'fn main() {\n    println!("{} {}", crcmini::crc(b"a"), wavebuf::len());\n}\n' > src/main.rs
cat > image.sh <<'X'
echo "image: base layer reused"
echo "image: compiling in release mode, log goes to compile.log"
{ rustc --version; cargo build --offline --release; } > compile.log 2>&1
echo "image: warning: debug symbols are not stripped"
echo "image: copying files"
cp target/release/tidegate image/tidegate && echo "image: 1 file" || { echo "image: layer 2 of 3 failed"; exit 1; }
X
show 04-environment.txt cargo --version
show 04-environment.txt grep -H version vendor/crcmini/Cargo.toml vendor/wavebuf/Cargo.toml
stage deploy bash image.sh
keep 05-config.toml Cargo.toml
keep 03-service_log.log compile.log
exit 0
