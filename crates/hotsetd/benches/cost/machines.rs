//! Copies of this machine's files, and of a machine that it is not.
use std::fmt::Write;
use std::path::Path;

/// The files that the daemon reads, as they are now.
pub fn copy_of_proc(to: &Path) {
    for path in [
        "proc/vmstat",
        "proc/zoneinfo",
        "proc/buddyinfo",
        "proc/meminfo",
        "proc/pressure/memory",
        "proc/sys/fs/dentry-state",
        "proc/sys/fs/inode-nr",
        "proc/sys/vm/watermark_scale_factor",
        "proc/sys/vm/min_free_kbytes",
        "proc/sys/vm/vfs_cache_pressure",
        "proc/sys/vm/compaction_proactiveness",
        "proc/sys/kernel/osrelease",
        "sys/devices/system/node/node0/vmstat",
    ] {
        if let Ok(bytes) = std::fs::read(Path::new("/").join(path)) {
            put(to, path, &bytes);
        }
    }
}

fn put(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, bytes).expect("a copy");
}

/// This machine with so many nodes and CPUs. Returns its zoneinfo.
pub fn large(root: &Path, nodes: usize, cpus: usize) -> String {
    copy_of_proc(root);
    let vmstat = std::fs::read("/sys/devices/system/node/node0/vmstat").expect("a node");
    let small = std::fs::read_to_string("/proc/zoneinfo").expect("zoneinfo");
    let small: Vec<&str> = small.lines().collect();
    let mut text = String::new();
    for node in 0..nodes {
        put(
            root,
            &format!("sys/devices/system/node/node{node}/vmstat"),
            &vmstat,
        );
        let mut rest = small.as_slice();
        while let Some((line, behind)) = rest.split_first() {
            rest = behind;
            if line.trim_start() == "cpu: 0" {
                // Those of one CPU lie deeper than what follows the CPUs, but for the threshold.
                let more = rest.iter().take_while(|line| line.starts_with("     "));
                let (block, after) = rest.split_at(more.count());
                let threshold = usize::from(after[0].contains("threshold"));
                for cpu in 0..cpus {
                    let lines = [block, &after[..threshold]].concat().join("\n");
                    writeln!(text, "    cpu: {cpu}\n{lines}").expect("a string");
                }
                rest = &after[threshold..];
            } else if line.trim_start().starts_with("cpu: ") {
                let end = rest.iter().position(|line| line.contains("threshold"));
                rest = &rest[end.map_or(0, |end| end + 1)..];
            } else {
                writeln!(
                    text,
                    "{}",
                    line.replacen("Node 0", &format!("Node {node}"), 1)
                )
                .expect("a string");
            }
        }
    }
    put(root, "proc/zoneinfo", text.as_bytes());
    text
}
