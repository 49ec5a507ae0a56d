//! hotsetd, and others that do its work.
use crate::finding::Finding;
use crate::read::{exists, text};
use hotsetd::protect::oom::other_killers::NAMES as KILLERS;
use kernfs::Root;
use std::fs;

/// The command that stops a service which kills when memory is short.
fn stop(name: &str) -> String {
    let units = match name {
        "systemd-oomd" => "systemd-oomd.socket systemd-oomd",
        "nohang" => "nohang nohang-desktop",
        other => other,
    };
    format!("sudo systemctl disable --now {units}")
}

pub fn findings(root: &Root) -> Vec<Finding> {
    let services = services(root);
    let mut all = Vec::new();
    all.extend(container(root));
    all.push(hotsetd(root, &services));
    all.extend(killers(&services));
    all
}

/// A service of the machine.
struct Service {
    name: String,
    dry_run: bool,
}

/// Processes of root and of the system's units with a name that counts here. Anybody can take such a name.
fn services(root: &Root) -> Vec<Service> {
    let Ok(entries) = fs::read_dir(root.path("/proc")) else {
        return Vec::new();
    };
    let pids = entries.flatten().map(|entry| entry.file_name());
    let pids = pids.filter_map(|name| name.to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| service(root, pid)).collect()
}

fn service(root: &Root, pid: u32) -> Option<Service> {
    let name = text(root, &format!("/proc/{pid}/comm"))?;
    if name != "hotsetd" && !KILLERS.contains(&name.as_str()) {
        return None;
    }
    let status = text(root, &format!("/proc/{pid}/status"))?;
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    let is_root = uid.split_whitespace().next() == Some("0");
    let cgroup = text(root, &format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let command = fs::read(root.path(format!("/proc/{pid}/cmdline"))).unwrap_or_default();
    let dry_run = command
        .split(|byte| *byte == 0)
        .any(|word| word == b"--dry-run" || word == b"-d");
    (is_root || cgroup.contains("/system.slice/")).then_some(Service { name, dry_run })
}

fn hotsetd(root: &Root, services: &[Service]) -> Finding {
    const SUBJECT: &str = "hotsetd";
    let start = "sudo systemctl enable --now hotsetd";
    let mut running = services
        .iter()
        .filter(|service| service.name == "hotsetd")
        .peekable();
    if running.peek().is_some() {
        if running.all(|service| service.dry_run) {
            return Finding::better(SUBJECT, "runs dry: it writes nothing", "start the service")
                .by([start]);
        }
        return Finding::good(SUBJECT, "runs; `hotset status` shows what it does");
    }
    let folders = [
        "/etc/systemd/system",
        "/usr/lib/systemd/system",
        "/lib/systemd/system",
    ];
    match folders
        .iter()
        .any(|folder| exists(root, &format!("{folder}/hotsetd.service")))
    {
        true => Finding::better(
            SUBJECT,
            "installed, and does not run",
            "start it, now and at each boot",
        )
        .by([start]),
        false => Finding::better(
            SUBJECT,
            "not installed as a service",
            "install it: see README.md",
        ),
    }
}

fn killers(services: &[Service]) -> Option<Finding> {
    let runs = |name: &str| services.iter().any(|service| service.name == name);
    let name = KILLERS.into_iter().find(|name| runs(name))?;
    let advice = "hotsetd leaves killing to it: two killers kill twice for one shortage. To have hotsetd kill, \
                  stop the other";
    Some(Finding::better("killer", format!("{name} runs"), advice).by([stop(name)]))
}

fn container(root: &Root) -> Option<Finding> {
    let marks = [
        "/run/systemd/container",
        "/.dockerenv",
        "/run/.containerenv",
    ];
    if !marks.iter().any(|mark| exists(root, mark)) {
        return None;
    }
    let advice = "reclaim is the host's: install hotsetd there, and it serves all containers";
    Some(Finding::better("container", "this is one", advice))
}
