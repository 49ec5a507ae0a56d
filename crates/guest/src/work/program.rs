//! A worker that is a program of the experiment's root: see [`protocol::work::Program`].
use anyhow::{Context, Result};
use protocol::work::Program;
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_uid};
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
    let groups = std::fs::read_to_string("/etc/group").context("reading the root's /etc/group")?;
    let groups = groups_of(&groups, &orders.user);
    std::env::set_current_dir(&orders.cwd)
        .with_context(|| format!("entering the folder {}", orders.cwd))?;
    // A program may signal its own process group, which is not to be that of PID 1.
    let _ = rustix::process::setsid();
    // The standard library would leave the user without its other groups.
    user.become_it(groups)
        .with_context(|| format!("becoming the user {}", orders.user))?;
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PATH", PATH)
        .env("HOME", &user.home)
        .env("USER", &orders.user)
        .env("LC_ALL", "C.UTF-8")
        .envs(&orders.env)
        .exec();
    Err(error).with_context(|| format!("starting {program}"))
}

/// Becomes a daemon of the root, with its superuser's rights. Never returns.
pub fn in_root(command: impl Iterator<Item = String>) -> ! {
    let orders = Program::of(command.collect());
    if let Err(error) = exec(&orders) {
        eprintln!("hotset-guest: {error:#}");
    }
    std::process::exit(1)
}

struct User {
    uid: u32,
    gid: u32,
    home: String,
}

impl User {
    /// Gives this process, which has one thread, the user's rights.
    fn become_it(&self, mut groups: Vec<Gid>) -> rustix::io::Result<()> {
        let gid = Gid::from_raw(self.gid);
        groups.push(gid);
        set_thread_groups(&groups)?;
        set_thread_gid(gid)?;
        set_thread_uid(Uid::from_raw(self.uid))
    }
}

/// The groups that have the user as a member, in the text of /etc/group.
fn groups_of(groups: &str, name: &str) -> Vec<Gid> {
    groups
        .lines()
        .filter_map(|line| {
            let (rest, members) = line.rsplit_once(':')?;
            members.split(',').find(|&member| member == name)?;
            rest.rsplit_once(':')?.1.parse().ok().map(Gid::from_raw)
        })
        .collect()
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
    use super::{groups_of, user, Gid};

    #[test]
    fn groups_are_those_that_have_the_user_as_a_member() {
        let groups = "ssl-cert:x:109:www,postgres\nwww:x:33:\npost:x:34:post,postgresql\n";
        assert_eq!(groups_of(groups, "postgres"), [Gid::from_raw(109)]);
    }

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
