//! The files that examples read: small ones of the same names, made by the programs themselves.
use std::path::Path;

/// A file, and the command that makes it.
const INPUTS: &[(&str, &str)] = &[
    ("t.bin.zst", "hotset -q trace generate zipf --count 20e3 --objects 2e3 t.bin.zst --to oracleGeneral"),
    ("huge.bin.zst", "hotset -q trace generate zipf --count 200e3 --objects 100e3 huge.bin.zst --to oracleGeneral"),
    ("trace.bin.zst", "hotset -q trace generate zipf --count 5e3 --objects 1e3 trace.bin.zst --to oracleGeneral"),
    ("cloudPhysicsIO.oracleGeneral.bin.zst", "hotset -q trace generate zipf --count 20e3 --objects 2e3 cloudPhysicsIO.oracleGeneral.bin.zst"),
    ("blocks.txt.zst", "hotset -q trace generate zipf --count 20e3 --objects 2e3 blocks.txt.zst --to text"),
    ("WebSearch1.spc", "hotset -q trace generate zipf --count 5e3 --objects 1e3 WebSearch1.spc"),
    ("Financial1.spc", "hotset -q trace generate zipf --count 5e3 --objects 1e3 Financial1.spc"),
    ("big.csv", "hotset -q trace generate zipf --count 5e3 --objects 1e3 big.csv"),
    ("sized.csv", "printf 'key,size\\na,1000\\nb,3000\\na,1000\\nc,500\\nb,3000\\n' > sized.csv"),
    ("requests.csv", "printf 'block,time\\n7,0\\n8,1\\n7,2\\n9,3\\n' > requests.csv"),
    ("recorded.csv.zst", "hotset -q trace generate zipf --count 5e3 --objects 1e3 recorded.csv.zst"),
    ("traces/*.csv.zst", "mkdir -p traces && cp $ROOT/fixtures/closed-loop/demand/burst_s1.csv.zst traces"),
    ("burst.csv", "zstd -dcq $ROOT/fixtures/closed-loop/demand/burst_s1.csv.zst > burst.csv"),
    ("part1.json", "for n in 1 2; do hotset -q trace generate zipf --count 500 --objects 90 - --to text | hotset -q sim sweep - --format text --policy lru,arc --size 10% --shard $n/2 --json > part$n.json; done"),
    ("my", "mkdir -p my && cp $ROOT/kernel/series/7.3/0001*.patch my"),
    ("my/patches", "mkdir -p my/patches && cp $ROOT/kernel/series/7.3/0001*.patch my/patches"),
    ("mine.conf", "printf 'aggressiveness = 3\\n' > mine.conf"),
    ("campaign.toml", "printf 'policies = [\"fifo\", \"lru\"]\nsizes = [\"1%%\"]\n[[traces]]\ngenerate = \"zipf,objects=500\"\ncount = 2000\nseeds = \"1..20\"\n' > campaign.toml"),
    ("study/", "test -e campaign.toml || printf 'policies = [\"fifo\", \"lru\"]\nsizes = [\"1%%\"]\n[[traces]]\ngenerate = \"zipf,objects=500\"\ncount = 2000\nseeds = \"1..20\"\n' > campaign.toml; hotset -q sim campaign run campaign.toml -o study/"),
    ("evening.jsonl.zst", "hotset -q record --interval 0.05 --count 20 evening.jsonl.zst"),
];

/// Lines that write the files that they name.
const WRITERS: [&str; 3] = [
    "hotset record",
    "hotset trace generate",
    "hotset trace record",
];

/// Makes the files that a line reads, unless an earlier line has made them.
pub fn provide(line: &str, folder: &Path, make: &dyn Fn(&str)) {
    if WRITERS.iter().any(|writer| line.starts_with(writer)) {
        return;
    }
    for (name, command) in INPUTS {
        let named = line.split_whitespace().any(|word| word == *name);
        if named && !folder.join(name).exists() {
            make(command);
        }
    }
}
