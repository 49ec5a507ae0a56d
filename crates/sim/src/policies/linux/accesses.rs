//! The kinds of accesses: through a mapping or a file descriptor, of anonymous memory or of a file.
use crate::error::Error;
use crate::input::Input;
use crate::policy::Setup;
use trace::Flags;

/// The kind of each access: as in the trace, or the same for all.
#[derive(Clone, Copy)]
pub(crate) struct Accesses<'a> {
    flags: Option<&'a [Flags]>,
    alike: Flags,
}

/// The help of the parameter that [`Accesses::new`] reads.
pub(crate) const ACCESS_HELP: &str =
    "kind of every access: trace (as in the trace, else read()), read, mapped, exec or anon";

impl<'a> Accesses<'a> {
    pub fn new(setup: &Setup<'a, '_>) -> Result<Accesses<'a>, Error> {
        let text: String = setup.value("access")?;
        let alike = match text.as_str() {
            "trace" | "read" => Flags::NONE,
            "mapped" => Flags::MAPPED,
            "exec" => Flags::MAPPED | Flags::EXEC,
            "anon" => Flags::ANON | Flags::MAPPED,
            other => {
                let expected = "trace, read, mapped, exec or anon";
                return Err(setup.refuse("access", other, expected));
            }
        };
        let input: &Input<'a> = &setup.input;
        let flags = input.flags().filter(|_| text == "trace");
        Ok(Accesses { flags, alike })
    }

    #[inline(always)]
    pub fn at(&self, at: usize) -> Flags {
        match self.flags {
            Some(flags) => flags[at],
            None => self.alike,
        }
    }
}

/// Is `access` made through a page table? Accesses of anonymous memory always are.
#[inline(always)]
pub(crate) fn is_mapped(access: Flags) -> bool {
    access.has(Flags::MAPPED) || access.has(Flags::ANON)
}
