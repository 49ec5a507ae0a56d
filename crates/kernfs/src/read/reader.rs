//! Reads one file after the other, and keeps the errors.
use crate::read::held::{Buffer, Held, Shape};
use crate::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that became unreadable, or readable again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    Lost(Error),
    Back(Arc<Path>),
}

/// A file, and whether its last read failed.
#[derive(Debug)]
pub(crate) struct Source {
    held: Held,
    failed: bool,
}

/// The buffer and the errors of all files.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    buffer: Buffer,
    pub(crate) errors: Vec<Error>,
    pub(crate) news: Vec<News>,
}

impl Source {
    pub(crate) fn new(path: PathBuf, shape: Shape, required: bool) -> Self {
        Self {
            held: Held::new(path, shape, required),
            failed: false,
        }
    }
}

impl Reader {
    /// Reads and parses one file. An error is `None`, and is kept in errors and news.
    pub(crate) fn take<T>(
        &mut self,
        source: &mut Source,
        parse: impl FnOnce(&[u8]) -> Result<T, ErrorKind>,
    ) -> Option<T> {
        let read = source.held.read(&mut self.buffer);
        match read.and_then(parse) {
            Ok(value) => {
                if std::mem::take(&mut source.failed) {
                    let path = source.held.error(ErrorKind::Missing).path;
                    self.news.push(News::Back(path));
                }
                Some(value)
            }
            Err(kind) => {
                if source.held.is_reportable(kind) {
                    let error = source.held.error(kind);
                    if !std::mem::replace(&mut source.failed, true) {
                        self.news.push(News::Lost(error.clone()));
                    }
                    self.errors.push(error);
                }
                None
            }
        }
    }
}
