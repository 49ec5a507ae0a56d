//! The rules for output files, the same for all commands.
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::Args;
use outfile::Rules;
use std::path::{Path, PathBuf};

/// A chart's file on the command line.
pub fn svg() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| named(path, "chart", &["svg"]))
}

/// A page's file on the command line.
pub fn page() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| named(path, "page", &["html", "htm", "xhtml"]))
}

/// A folder for results on the command line.
pub fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        true => Err("a folder cannot go to standard output; name a folder"),
        false => Ok(path),
    })
}

fn named(path: PathBuf, what: &str, endings: &[&str]) -> Result<PathBuf, String> {
    if path.as_os_str() == "-" {
        return Err(format!(
            "a {what} cannot go to standard output; name a file"
        ));
    }
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase());
    match ending {
        Some(ending) if !endings.contains(&ending.as_str()) => {
            let first = endings[0];
            Err(format!(
                "a {what} is written as {first} alone; end the name in .{first}"
            ))
        }
        _ => Ok(path),
    }
}

#[derive(Args)]
pub struct Force {
    /// Replace output files that exist
    #[arg(long)]
    pub force: bool,
}

impl Force {
    /// The rules for the outputs of a command that reads these files.
    pub fn rules<'a>(&self, inputs: &'a [&'a Path]) -> Rules<'a> {
        Rules {
            force: self.force,
            inputs,
        }
    }
}
