//! Damaged traces: random changes of good traces, the same ones in each run.
//!
//! `HOTSET_FUZZ_SECONDS=3600 cargo test --release -p trace --test hostile` tests each reader for an hour.
//! `fuzz/` has the same check for libFuzzer.
#[path = "../../../fuzz/check.rs"]
mod check;

use random::Pcg64;
use std::io::Write;
use std::time::{Duration, Instant};
use trace::Format;

/// Changes tried in a plain test run.
const ROUNDS: u64 = 500;

fn fuzz(format: Option<Format>, seeds: &[Vec<u8>], words: &[&[u8]]) {
    let asked = std::env::var("HOTSET_FUZZ_SECONDS").ok().map(|seconds| {
        let seconds = seconds
            .parse()
            .expect("HOTSET_FUZZ_SECONDS is a number of seconds");
        Instant::now() + Duration::from_secs(seconds)
    });
    let mut rng = Pcg64::new(1);
    let mut round = 0u64;
    while match asked {
        Some(end) => Instant::now() < end,
        None => round < ROUNDS,
    } {
        round += 1;
        let mut data = pick(&mut rng, seeds).clone();
        for _ in 0..rng.up_to(6) {
            mutate(&mut data, seeds, words, &mut rng);
        }
        data.insert(0, rng.next_u64() as u8);
        let kept = data.clone();
        if std::panic::catch_unwind(|| check::check(format, &data)).is_err() {
            let path = std::env::temp_dir().join(format!("hotset-hostile-{}", std::process::id()));
            std::fs::write(&path, kept).unwrap();
            panic!(
                "round {round}: {} breaks the reader of {format:?}",
                path.display()
            );
        }
    }
    println!("{format:?}: {round} rounds");
}

fn pick<'a, T>(rng: &mut Pcg64, from: &'a [T]) -> &'a T {
    &from[rng.up_to(from.len() as u32 - 1) as usize]
}

fn mutate(data: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[&[u8]], rng: &mut Pcg64) {
    let mut place = |length: usize| rng.up_to(length as u32) as usize;
    let (a, b) = (place(data.len()), place(data.len()));
    let (a, b) = (a.min(b), a.max(b));
    let b = b.min(a + 200);
    match place(8) {
        0 => data.truncate(a),
        1 => drop(data.drain(a..b)),
        2 => {
            let copy = data[a..b].to_vec();
            let at = place(data.len());
            data.splice(at..at, copy);
        }
        3 if a < data.len() => data[a] ^= 1 << place(7),
        4 if a < data.len() => data[a] = place(255) as u8,
        5 => {
            let other = pick(rng, seeds);
            let from = rng.up_to(other.len() as u32) as usize;
            data.truncate(a);
            data.extend_from_slice(&other[from..]);
        }
        _ => {
            let word = *pick(rng, words);
            data.splice(a..a, word.iter().copied());
        }
    }
}

const NUMBERS: [&[u8]; 14] = [
    b"0",
    b"-1",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775807",
    b"4294967296",
    b"1e308",
    b"nan",
    b"inf",
    b"0x",
    b"0xffffffffffffffff",
    b",",
    b"\n",
    b"\"",
];

fn words(own: &[&'static [u8]]) -> Vec<&'static [u8]> {
    NUMBERS.iter().copied().chain(own.iter().copied()).collect()
}

const SPC: &[u8] =
    b"0,20941264,8192,W,0.551706\n0,20939840,8192,W,0.554041\n1,3072,1536,r,0.6\n2,1,0,R,7\n";
const CSV: &[u8] = b"time,id,size,op,kind,via\n0,12,4096,read,anon,mapped\n0.5,13,512,write,file,exec\n1,\"14\",1,get,file,fd\n";
const TEXT: &[u8] = b"1\n2\n# three\n\n0x10\n  44\nname\n";
const LACKEY: &[u8] =
    b"==1== Lackey\nI  04016d40,3\n S 1ffeffff38,8\n L 04222c48,8\n M 0421e9a8,4\n";

fn oracle() -> Vec<u8> {
    let mut bytes = Vec::new();
    for (id, next) in [(5u64, 3i64), (9, -1), (5, -1), (u64::MAX, -2)] {
        bytes.extend_from_slice(&7u32.to_le_bytes());
        bytes.extend_from_slice(&id.to_le_bytes());
        bytes.extend_from_slice(&4096u32.to_le_bytes());
        bytes.extend_from_slice(&next.to_le_bytes());
    }
    bytes
}

#[test]
fn oracle_general() {
    let long = oracle().repeat(3000);
    fuzz(
        Some(Format::OracleGeneral),
        &[oracle(), long, vec![]],
        &words(&[&[0xff; 8], &[0; 24]]),
    );
}

#[test]
fn spc() {
    let own: [&[u8]; 3] = [b"R", b"W", b"0,0,4294967295,R,0\n"];
    fuzz(Some(Format::Spc), &[SPC.to_vec(), vec![]], &words(&own));
}

#[test]
fn csv() {
    let own: [&[u8]; 5] = [b"anon", b"write", b"addr", b"id", b"\xef\xbb\xbf"];
    fuzz(
        Some(Format::Csv),
        &[CSV.to_vec(), b"id\n1\n".to_vec(), vec![]],
        &words(&own),
    );
}

#[test]
fn text() {
    let long = [b"7".repeat(70_000), b"\n1\n".to_vec()].concat();
    fuzz(
        Some(Format::Text),
        &[TEXT.to_vec(), long, vec![]],
        &words(&[b"#", b"\r\n"]),
    );
}

#[test]
fn lackey() {
    fuzz(
        Some(Format::Lackey),
        &[LACKEY.to_vec(), vec![]],
        &words(&[b"I  ", b" L ", b"ffffffffffffffff,8\n"]),
    );
}

#[test]
fn packed_and_guessed() {
    let plain = [SPC, CSV, TEXT, LACKEY];
    let mut seeds: Vec<Vec<u8>> = plain.iter().map(|p| p.to_vec()).collect();
    for plain in plain {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(plain).unwrap();
        seeds.push(gzip.finish().unwrap());
        let mut zstd = trace::ZstdWriter::new(Vec::new());
        zstd.write(plain).unwrap();
        zstd.flush().unwrap();
        zstd.write(plain).unwrap();
        zstd.finish().unwrap();
        seeds.push(zstd.into_inner());
    }
    fuzz(
        None,
        &seeds,
        &words(&[&[0x28, 0xb5, 0x2f, 0xfd], &[0x1f, 0x8b]]),
    );
}
