//! Reads the headers of ELF programs (elf(5)).

/// A static ELF program without the parts that are never loaded: symbols and debugging information.
/// Each segment keeps its place in the file. The bytes behind the last segment and the table of
/// sections are removed. Bytes that are no such program stay as they are.
pub fn without_sections(mut program: Vec<u8>) -> Vec<u8> {
    const LOAD: [u8; 4] = 1u32.to_le_bytes(); // PT_LOAD
    let number = |at: usize, n: usize| {
        let mut le = [0u8; 8];
        le[..n].copy_from_slice(program.get(at..at + n)?);
        Some(u64::from_le_bytes(le) as usize)
    };
    let end = || -> Option<usize> {
        let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
        let mut end = table + size * count;
        for at in (0..count).map(|entry| table + entry * size) {
            if program.get(at..at + 4)? == LOAD {
                end = end.max(number(at + 8, 8)? + number(at + 32, 8)?);
            }
        }
        (end <= program.len()).then_some(end)
    };
    if let Some(end) = end() {
        program.truncate(end);
        program[40..48].fill(0); // e_shoff
        program[58..64].fill(0); // e_shentsize, e_shnum, e_shstrndx
    }
    program
}

/// The loader that an ELF program asks for; none for a static program.
///
/// # Errors
/// When the bytes are no 64-bit ELF program, or are cut short.
pub fn interpreter(program: &[u8]) -> Result<Option<String>, String> {
    const LOADER: u32 = 3; // PT_INTERP
    let cut = || "its headers are cut short".to_string();
    let bytes = |at: usize, n: usize| program.get(at..at.saturating_add(n)).ok_or_else(cut);
    let number = |at: usize, n: usize| -> Result<usize, String> {
        let mut le = [0u8; 8];
        le[..n].copy_from_slice(bytes(at, n)?);
        Ok(u64::from_le_bytes(le) as usize)
    };
    if program.get(..4) != Some(b"\x7fELF") || program.get(4..6) != Some(&[2, 1]) {
        return Err("not a 64-bit ELF program".into());
    }
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for entry in 0..count {
        let at = table.saturating_add(entry * size);
        if number(at, 4)? as u32 == LOADER {
            let name = bytes(
                number(at.saturating_add(8), 8)?,
                number(at.saturating_add(32), 8)?,
            )?;
            return Ok(Some(
                String::from_utf8_lossy(name)
                    .trim_end_matches('\0')
                    .to_string(),
            ));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{interpreter, without_sections};

    #[test]
    fn a_program_without_its_sections_still_runs() {
        use std::os::unix::fs::PermissionsExt;
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let short = without_sections(own.clone());
        assert!(short.len() < own.len());
        assert_eq!(interpreter(&short), Ok(None));
        let dir = tempfile::tempdir().unwrap();
        let written = dir.path().join("written");
        std::fs::write(&written, &short).unwrap();
        std::fs::set_permissions(&written, PermissionsExt::from_mode(0o755)).unwrap();
        // Another test's child may hold the written file open until it execs, and a file that is open
        // for writing cannot be run. Nobody but cp has its copy open.
        let path = dir.path().join("program");
        let copied = std::process::Command::new("cp")
            .args([&written, &path])
            .status();
        assert!(copied.unwrap().success());
        let listed = std::process::Command::new(&path)
            .args(["--list", "only_static"])
            .output()
            .unwrap();
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(listed.contains("only_static"), "{listed}");
        // Bytes that are no ELF program stay as they are.
        assert_eq!(without_sections(b"#!/bin/sh".to_vec()), b"#!/bin/sh");
    }

    #[test]
    fn only_static_programs_have_no_interpreter() {
        // The test's own program comes out of the same build as hotset-guest.
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(interpreter(&own), Ok(None));
        let mut dynamic = vec![0u8; 64 + 56];
        dynamic[..6].copy_from_slice(b"\x7fELF\x02\x01");
        dynamic[32] = 64; // program headers
        dynamic[54] = 56;
        dynamic[56] = 1;
        dynamic[64] = 3;
        dynamic[64 + 8] = 120;
        dynamic[64 + 32] = 12;
        dynamic.extend(b"/lib/ld.so.2");
        assert_eq!(interpreter(&dynamic), Ok(Some("/lib/ld.so.2".into())));
        assert!(interpreter(&dynamic[..100]).is_err());
        assert!(interpreter(b"#!/bin/sh").is_err());
    }
}
