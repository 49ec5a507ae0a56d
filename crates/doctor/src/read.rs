//! Short files of the machine, and which programs it has.
use kernfs::Root;
use std::fs;
use std::path::Path;

/// The text of a file without blanks at its ends. `None`: it cannot be read.
pub fn text(root: &Root, path: &str) -> Option<String> {
    let bytes = fs::read(root.path(path)).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// The number that is a file's first word.
pub fn number(root: &Root, path: &str) -> Option<i64> {
    first_number(&root.path(path))
}

fn first_number(path: &Path) -> Option<i64> {
    let text = fs::read_to_string(path).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// The value of a sysctl, by its dotted name.
pub fn sysctl(root: &Root, name: &str) -> Option<i64> {
    first_number(&root.sysctl(name))
}

/// Whether there is such a file or folder.
pub fn exists(root: &Root, path: &str) -> bool {
    root.path(path).exists()
}

/// /proc/meminfo; empty where it cannot be read.
pub fn meminfo(root: &Root) -> kernfs::meminfo::Meminfo {
    let mut found = kernfs::meminfo::Meminfo::default();
    if let Ok(bytes) = fs::read(root.path("/proc/meminfo")) {
        // What cannot be parsed stays empty.
        let _ = found.parse(&bytes);
    }
    found
}

/// The commands that add an option to the kernel's command line, with the tool that this distribution has.
pub fn boot_with(root: &Root, option: &str) -> Vec<String> {
    let reboot = "sudo reboot".to_owned();
    if exists(root, "/usr/sbin/grubby") || exists(root, "/sbin/grubby") {
        return vec![
            format!("sudo grubby --update-kernel=ALL --args={option}"),
            reboot,
        ];
    }
    if exists(root, "/usr/sbin/update-grub") {
        let edit = format!("sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{option} /' /etc/default/grub");
        return vec![edit, "sudo update-grub".to_owned(), reboot];
    }
    Vec::new()
}

/// The commands that swap to compressed memory, by this distribution's packages.
pub fn swap_to_zram(root: &Root) -> Vec<String> {
    let start = "sudo systemctl daemon-reload && sudo systemctl start systemd-zram-setup@zram0";
    let install = if exists(root, "/usr/bin/apt-get") {
        "sudo apt-get install systemd-zram-generator"
    } else if exists(root, "/usr/bin/dnf") {
        "sudo dnf install zram-generator-defaults"
    } else {
        return Vec::new();
    };
    vec![install.to_owned(), start.to_owned()]
}
