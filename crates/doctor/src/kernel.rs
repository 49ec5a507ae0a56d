//! What the kernel was built and booted with.
use crate::finding::Finding;
use crate::read::{boot_with, exists, number, sysctl, text};
use kernfs::lru_gen::parse_enabled;
use kernfs::Root;

/// The oldest kernel that hotsetd runs on.
const OLDEST: (u32, u32) = (4, 18);

pub fn findings(root: &Root) -> Vec<Finding> {
    let all = [
        Some(release(root)),
        Some(pressure(root)),
        Some(lru(root)),
        cgroups(root),
        Some(reclaim(root)),
        Some(reads(root)),
        Some(series(root)),
    ];
    all.into_iter().flatten().collect()
}

fn release(root: &Root) -> Finding {
    const SUBJECT: &str = "kernel";
    let Some(release) = text(root, "/proc/sys/kernel/osrelease") else {
        let advice = "run hotset where /proc is mounted";
        return Finding::wrong(SUBJECT, "/proc/sys/kernel/osrelease cannot be read", advice);
    };
    let seen = format!("Linux {release}");
    match version(&release) {
        Some(version) if version < OLDEST => {
            Finding::wrong(SUBJECT, seen, "hotsetd needs Linux 4.18 or later")
        }
        _ => Finding::good(SUBJECT, seen),
    }
}

/// The first two numbers of a release such as `6.12.8-amd64`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(['.', '-', '+']);
    let mut number = || parts.next()?.parse().ok();
    Some((number()?, number()?))
}

fn pressure(root: &Root) -> Finding {
    const SUBJECT: &str = "pressure";
    if text(root, "/proc/pressure/memory").is_some() {
        return Finding::good(
            SUBJECT,
            "the kernel measures stalls (PSI), and wakes hotsetd",
        );
    }
    let release = text(root, "/proc/sys/kernel/osrelease").unwrap_or_default();
    if version(&release).is_some_and(|version| version < (4, 20)) {
        let advice = "from 4.20 on the kernel can measure stalls, so that hotsetd acts sooner";
        return Finding::better(SUBJECT, "this kernel has no PSI", advice);
    }
    let advice = "without PSI only samples notice that tasks stall. Boot with psi=1";
    Finding::better(SUBJECT, "there is no /proc/pressure/memory", advice)
        .by(boot_with(root, "psi=1"))
}

fn lru(root: &Root) -> Finding {
    const SUBJECT: &str = "replacement";
    let enabled = text(root, "/sys/kernel/mm/lru_gen/enabled");
    let enabled = enabled.and_then(|bits| parse_enabled(bits.as_bytes()).ok());
    let seen = match enabled {
        None => "classic LRU; this kernel has no MGLRU".to_owned(),
        Some(0) => "classic LRU; MGLRU is there and off".to_owned(),
        Some(_) => match number(root, "/sys/kernel/mm/lru_gen/min_ttl_ms") {
            Some(1..) => {
                "MGLRU, and min_ttl_ms has the kernel kill to keep working sets".to_owned()
            }
            _ => "MGLRU".to_owned(),
        },
    };
    Finding::good(SUBJECT, seen)
}

/// `None` where no cgroup is mounted, as without systemd.
fn cgroups(root: &Root) -> Option<Finding> {
    const SUBJECT: &str = "cgroups";
    if let Some(controllers) = text(root, "/sys/fs/cgroup/cgroup.controllers") {
        if controllers.split_whitespace().any(|one| one == "memory") {
            return Some(Finding::good(
                SUBJECT,
                "version 2, with the memory controller",
            ));
        }
        let advice = "without it neither units nor containers have floors or limits. Take \
                      cgroup_disable=memory from the kernel's command line";
        return Some(Finding::better(
            SUBJECT,
            "version 2, without the memory controller",
            advice,
        ));
    }
    if !exists(root, "/sys/fs/cgroup/memory") {
        return None;
    }
    let option = "systemd.unified_cgroup_hierarchy=1";
    let advice = format!(
        "there floors hold in the root cgroup alone, and [protect.cgroups] does nothing. Boot with {option}"
    );
    Some(Finding::better(SUBJECT, "version 1", advice).by(boot_with(root, option)))
}

fn reclaim(root: &Root) -> Finding {
    const SUBJECT: &str = "reclaim ahead";
    if exists(root, "/sys/devices/system/node/node0/reclaim") {
        return Finding::good(SUBJECT, "by node");
    }
    if exists(root, "/sys/fs/cgroup/memory.reclaim") {
        return Finding::good(SUBJECT, "of all nodes together");
    }
    let advice = "watermarks alone make room ahead. Reclaim on request needs Linux 5.19 and cgroups of version 2";
    Finding::better(SUBJECT, "this kernel reclaims nothing on request", advice)
}

fn reads(root: &Root) -> Finding {
    const SUBJECT: &str = "files read again";
    let events = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"]
        .map(|folder| root.path(format!("{folder}/events")));
    // Only root may look into the folder, so it is its attributes that are asked for.
    let Some(events) = events.iter().find(|path| path.exists()) else {
        return Finding::good(
            SUBJECT,
            "not seen without root, or without tracefs; lock_mb may need it",
        );
    };
    match events.join("filemap/mm_filemap_get_pages").exists() {
        true => Finding::good(SUBJECT, "lock_mb can find them"),
        false => Finding::good(
            SUBJECT,
            "this kernel does not report them: lock_mb locks executables alone",
        ),
    }
}

fn series(root: &Root) -> Finding {
    const SUBJECT: &str = "hotset's patches";
    match sysctl(root, "vm.workingset_protection") {
        Some(0) => Finding::better(
            SUBJECT,
            "in this kernel, and off",
            "the kernel can keep the floors itself, cgroups included",
        )
        .by(["sudo sysctl vm.workingset_protection=1"]),
        Some(_) => Finding::good(SUBJECT, "in this kernel: it keeps the floors itself"),
        None => Finding::good(
            SUBJECT,
            "not in this kernel: hotsetd steers it from outside",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_two_numbers_and_a_tail() {
        assert_eq!(version("4.18.0-553.el8"), Some((4, 18)));
        assert_eq!(version("7.3-rc1+"), Some((7, 3)));
        assert_eq!(version("unknown"), None);
    }
}
