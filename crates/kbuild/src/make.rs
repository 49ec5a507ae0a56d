//! What kbuild's make says, and what it must not hear.
use std::process::Command;

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
