. "$LIB"
mkdir -p meter/src && cd meter
cat >Cargo.toml <<'T'
[package]
name = "meter"
version = "0.3.1"
edition = "2021"

[profile.release]
opt-level = 2
T
cat >src/main.rs <<'R'
use std::thread;

fn mean(rows: &[f64]) -> f64 {
    rows.iter().sum::<f64>() / rows.len() as f64
}

fn main() {
    let rows: Vec<f64> = (1..=64).map(|n| n as f64 * 0.5).collect();
    let worker = thread::spawn(move || mean(&rows));
    println!("{} rows", rows.len());
    println!("mean {:.3}", worker.join().unwrap());
}
R
stage build cargo build --release --offline
keep 03-config.toml Cargo.toml
show 04-environment.txt rustc --version
show 04-environment.txt cargo --version
