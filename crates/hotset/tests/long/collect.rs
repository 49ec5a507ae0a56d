//! Finds the command lines of pages, help texts and man pages.
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A text whose examples follow each other.
pub struct Page {
    pub examples: Vec<Example>,
}

/// A command line, without its comment.
pub struct Example {
    pub place: String,
    pub line: String,
}

impl fmt::Display for Example {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}", self.place, self.line)
    }
}

/// The source tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README, the pages of the guide, and that of the series.
pub fn markdown() -> Vec<Page> {
    let root = root();
    let guide = std::fs::read_dir(root.join("docs/guide")).unwrap();
    let mut files: Vec<PathBuf> = guide.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "md"));
    files.sort();
    for name in ["kernel/README.md", "CONTRIBUTING.md", "README.md"] {
        files.insert(0, root.join(name));
    }
    let pages = files.iter().map(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        page(&name, blocks(&text))
    });
    pages.collect()
}

/// The lines of code blocks, fenced or indented, with their numbers.
fn blocks(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut fenced = None;
    for (number, line) in text.lines().enumerate() {
        match line.trim().strip_prefix("```") {
            Some(language) if fenced.is_none() => fenced = Some(language),
            Some(_) => fenced = None,
            None if fenced == Some("") || (fenced.is_none() && line.starts_with("    ")) => {
                lines.push((number + 1, line.trim()));
            }
            None => {}
        }
    }
    lines
}

/// The help of each command.
pub fn help(program: &str) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut waiting = vec![Vec::new()];
    while let Some(path) = waiting.pop() {
        let text = help_of(program, &path);
        for name in listed(&text) {
            let mut below: Vec<String> = path.clone();
            below.push(name);
            waiting.push(below);
        }
        let lines = text.lines().enumerate();
        let lines = lines.skip_while(|(_, line)| !line.starts_with("Example"));
        let lines = lines.skip(1).take_while(|(_, line)| !line.is_empty());
        let lines = lines.map(|(number, line)| (number + 1, line.trim()));
        let name = format!("hotset {} --help", path.join(" "));
        let page = page(&name, lines.collect());
        pages.push(page);
    }
    pages
}

fn help_of(program: &str, path: &[String]) -> String {
    let output = Command::new(program)
        .args(path)
        .arg("--help")
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    assert!(output.status.success(), "{path:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that a help text lists.
fn listed(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_string)
        .collect()
}

/// The displays of the man pages.
pub fn man() -> Vec<Page> {
    let files = ["dist/man/hotsetd.8", "dist/man/hotsetd.conf.5"];
    let pages = files.map(|name| {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        let text = text.replace("\\-", "-").replace("\\(aq", "'");
        page(name, displays(&text))
    });
    pages.into()
}

/// The lines of a man page that are displayed as they stand, with their numbers.
fn displays(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut displayed = false;
    for (number, line) in text.lines().enumerate() {
        match line {
            ".nf" | ".EX" => displayed = true,
            ".fi" | ".EE" => displayed = false,
            _ if displayed => lines.push((number + 1, line.trim())),
            _ => {}
        }
    }
    lines
}

/// Programs that begin a command line in our texts.
const PROGRAMS: [&str; 9] = [
    "hotset",
    "hotsetd",
    "sudo",
    "make",
    "git",
    "cargo",
    "valgrind",
    "systemctl",
    "journalctl",
];

fn page(name: &str, lines: Vec<(usize, &str)>) -> Page {
    let mut examples = Vec::new();
    let mut lines = lines.into_iter();
    while let Some((number, line)) = lines.next() {
        let mut line = without_comment(line).to_string();
        if !is_command(&line) {
            continue;
        }
        while line.ends_with('\\') {
            line.pop();
            let (_, next) = lines.next().expect("a line goes on after a backslash");
            line = format!("{} {}", line.trim_end(), without_comment(next).trim());
        }
        examples.push(Example {
            place: format!("{name}:{number}"),
            line,
        });
    }
    Page { examples }
}

fn is_command(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    // "hotsetd 0.1.0, pid 16840" is output.
    let output = second.starts_with(|c: char| c.is_ascii_digit());
    (PROGRAMS.contains(&first) && !output)
        || first.starts_with("script/")
        || first.starts_with("target/")
}

fn without_comment(line: &str) -> &str {
    line.find(" # ").map_or(line, |at| &line[..at]).trim_end()
}
