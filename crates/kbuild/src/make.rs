//! What kbuild's make says, and what it must not hear.
use crate::files::files_below;
use anyhow::Result;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many objects are out of date once `changed` (full paths) were written, by kbuild's records of
/// what each object was made from.
///
/// # Errors
/// When a directory cannot be read.
pub(crate) fn dependents(objects: &Path, changed: &[PathBuf]) -> Result<u64> {
    if changed.is_empty() {
        return Ok(0);
    }
    let changed: HashSet<&str> = changed.iter().filter_map(|path| path.to_str()).collect();
    let mut count = 0;
    for path in files_below(objects)? {
        if path.to_string_lossy().ends_with(".o.cmd") {
            let text = std::fs::read(objects.join(path))?;
            let text = String::from_utf8_lossy(&text);
            count += u64::from(text.split_whitespace().any(|word| changed.contains(word)));
        }
    }
    Ok(count)
}

/// A caller's own build settings must not leak into ours: results would differ by who asked.
pub(crate) fn forget_build_variables(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let ours = ["KBUILD_", "KCONFIG_", "MAKE"]
            .iter()
            .any(|prefix| text.starts_with(prefix));
        let named = [
            "ARCH",
            "CROSS_COMPILE",
            "O",
            "CC",
            "LD",
            "HOSTCC",
            "KCFLAGS",
            "KAFLAGS",
            "CFLAGS",
            "LDFLAGS",
            "LOCALVERSION",
            "LLVM",
            "MFLAGS",
            "V",
            "W",
            "C",
            "CF",
            "SUBARCH",
        ]
        .contains(&text.as_ref());
        if ours || named {
            command.env_remove(&name);
        }
    }
}

/// "CC mm/vmscan.o" of "  CC      mm/vmscan.o".
pub(crate) fn step_of(line: &str) -> Option<String> {
    let rest = line.strip_prefix("  ")?;
    let mut words = rest.split_whitespace();
    let verb = words.next()?;
    (rest.starts_with(verb)
        && verb
            .chars()
            .all(|c| c.is_ascii_uppercase() || "_0123456789".contains(c)))
    .then(|| format!("{verb} {}", words.next().unwrap_or_default()))
}

/// The lines of a failed build that say why: from the first error on, without make's echoes.
pub(crate) fn relevant(lines: &[String]) -> String {
    let noise = |line: &&String| step_of(line).is_none() && !line.contains("directory '");
    let cause = |line: &String| {
        ["error:", "undefined reference", "*** ", "Error ", "fatal:"]
            .iter()
            .any(|sign| line.contains(sign))
    };
    let first = lines
        .iter()
        .position(cause)
        .unwrap_or(lines.len().saturating_sub(20));
    // The line before an error says in which function it is.
    lines[first.saturating_sub(2)..]
        .iter()
        .filter(noise)
        .take(25)
        .map(|line| format!("  {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_out_of_date_are_counted_by_kbuilds_records() {
        let dir = tempfile::tempdir().unwrap();
        let mm = dir.path().join("mm");
        std::fs::create_dir(&mm).unwrap();
        for (name, header) in [("a", "x.h"), ("b", "x.h"), ("c", "x.hh")] {
            let text = format!("deps_{name}.o := \\\n  /src/{header} \\\n\n");
            std::fs::write(mm.join(format!(".{name}.o.cmd")), text).unwrap();
        }
        let count = |path: &str| dependents(dir.path(), &[path.into()]).unwrap();
        assert_eq!((count("/src/x.h"), count("/src/y.h")), (2, 0));
    }

    #[test]
    fn steps_are_told_from_other_lines() {
        assert_eq!(step_of("  CC      mm/vmscan.o").unwrap(), "CC mm/vmscan.o");
        assert!(step_of("mm/vmscan.c:1:2: warning: x").is_none());
        assert!(step_of("make[1]: Entering directory '/x'").is_none());
        assert!(step_of("      |      ^~~").is_none());
    }

    #[test]
    fn a_failure_shows_the_compilers_lines_only() {
        let lines: Vec<String> = [
            "  CC      mm/a.o",
            "mm/b.c: In function 'f':",
            "mm/b.c:3:1: error: 'x' undeclared",
            "  CC      mm/c.o",
            "make[2]: *** [mm/b.o] Error 1",
        ]
        .map(Into::into)
        .into();
        let text = relevant(&lines);
        assert!(text.starts_with("  mm/b.c: In function 'f':"), "{text}");
        assert!(
            text.contains("'x' undeclared") && !text.contains("CC "),
            "{text}"
        );
    }
}
