//! Reads one file after the other, and keeps word of what went wrong.
use crate::held::{Buffer, Held, Shape};
use crate::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that stopped or began giving what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    Lost(Error),
    Back(Arc<Path>),
}

/// A file and whether it gave what it should the last time.
#[derive(Debug)]
pub(crate) struct Source {
    held: Held,
    failed: bool,
}

/// What all reading shares.
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
    /// Reads and parses one file. `None`, and a word in errors and news, where that does not work.
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
                if source.held.is_fault(kind) {
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
