//! A worker that is a program of the experiment's root: see [`protocol::work::Program`].
use anyhow::{Context, Result};
use protocol::work::Program;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::paths::ROOT;

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Becomes the program, in its root and with its user's rights. PID 1 has made the standard streams. It
/// stays one process, so that it is ended as any worker is.
///
/// # Errors
/// When the root has no such user, folder or program.
pub fn exec(orders: &Program) -> Result<()> {
    let (program, arguments) = { orders.command.split_first() }.context("no command")?;
    std::os::unix::fs::chroot(ROOT).with_context(|| format!("entering {ROOT}"))?;
    let users = std::fs::read_to_string("/etc/passwd").context("reading the root's /etc/passwd")?;
    let user = user(&users, &orders.user)
        .with_context(|| format!("the root has no user {:?}", orders.user))?;
    std::env::set_current_dir(&orders.cwd)
        .with_context(|| format!("entering the folder {}", orders.cwd))?;
    // A program may signal its own process group, which is not to be that of PID 1.
    let _ = rustix::process::setsid();
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PATH", PATH)
        .env("HOME", &user.home)
        .env("USER", &orders.user)
        .env("LC_ALL", "C.UTF-8")
        .envs(&orders.env)
        .gid(user.gid)
        .uid(user.uid)
        .exec();
    Err(error).with_context(|| format!("starting {program}"))
}

struct User {
    uid: u32,
    gid: u32,
    home: String,
}

/// The user of a name in the text of /etc/passwd.
fn user(passwd: &str, name: &str) -> Option<User> {
    passwd.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [of, _, uid, gid, _, home, ..] = fields[..] else {
            return None;
        };
        (of == name).then_some(())?;
        Some(User {
            uid: uid.parse().ok()?,
            gid: gid.parse().ok()?,
            home: home.into(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::user;

    #[test]
    fn a_user_is_found_by_its_whole_name() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\n\
                      postgres:x:105:110:x,,,:/var/lib/postgresql:/bin/bash\n";
        let found = user(passwd, "postgres").unwrap();
        assert_eq!((found.uid, found.gid), (105, 110));
        assert_eq!(found.home, "/var/lib/postgresql");
        assert!(user(passwd, "post").is_none());
    }
}
