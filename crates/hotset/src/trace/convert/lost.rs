//! What a conversion loses, because the format that is written has no place for it.
use serde_json::{json, Value};
use trace::{Batch, Flags, Format};

/// Counts of requests that lose something. A batch of the output adds to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Writes that become like reads.
    operations: u64,
    /// Requests that lose their kind of page.
    kinds: u64,
    /// Times, or their fractions of a second.
    times: u64,
    /// Sizes other than a page's.
    sizes: u64,
    /// Objects whose names become numbers.
    pub names: u64,
}

impl Lost {
    /// Counts the losses of a batch that is written as `to`, with pages of `page` bytes.
    pub fn count(&mut self, batch: &Batch, to: Format, page: u32) {
        let flags = |is_lost: &dyn Fn(Flags) -> bool| {
            let lost = batch.flags.iter().filter(|flags| is_lost(**flags));
            lost.count() as u64
        };
        let write = |flags: Flags| flags.has(Flags::WRITE);
        let any = |flags: Flags| {
            [Flags::ANON, Flags::MAPPED, Flags::EXEC]
                .iter()
                .any(|one| flags.has(*one))
        };
        let data_of_a_file = |flags: Flags| {
            flags.has(Flags::MAPPED) && !flags.has(Flags::ANON) && !flags.has(Flags::EXEC)
        };
        match to {
            Format::OracleGeneral | Format::Text => {
                self.operations += flags(&write);
                self.kinds += flags(&any);
            }
            Format::Spc => self.kinds += flags(&any),
            Format::Lackey => {
                self.operations += flags(&|flags| write(flags) && flags.has(Flags::EXEC));
                self.kinds += flags(&data_of_a_file);
            }
            Format::Csv => {}
        }
        let times = batch.times.iter();
        self.times += match to {
            Format::OracleGeneral => times.filter(|time| time.fract() != 0.0).count() as u64,
            Format::Text | Format::Lackey => times.filter(|time| **time != 0.0).count() as u64,
            Format::Spc | Format::Csv => 0,
        };
        if matches!(to, Format::Text | Format::Lackey | Format::Spc) {
            self.sizes += batch.sizes.iter().filter(|size| **size != page).count() as u64;
        }
    }

    /// A line for each loss.
    pub fn notes(&self, to: Format, page: u32) -> Vec<String> {
        let name = to.name();
        let times = match to {
            Format::OracleGeneral => format!(
                "{name} has whole seconds: {} times lose their fraction",
                self.times
            ),
            _ => format!("{name} has no times: {} requests lose theirs", self.times),
        };
        let sizes = match to {
            Format::Text => format!("{name} has no sizes: {} requests lose theirs", self.sizes),
            _ => format!(
                "{name} has pages of {page} bytes: {} requests lose another size",
                self.sizes
            ),
        };
        let operations = match to {
            Format::Lackey => format!(
                "{name} has no writes to code: {} become reads",
                self.operations
            ),
            _ => format!(
                "{name} has no operations: {} writes lose their kind",
                self.operations
            ),
        };
        let all = [
            (self.operations, operations),
            (self.kinds, format!("{name} does not tell these kinds of pages: {} requests lose theirs", self.kinds)),
            (self.times, times),
            (self.sizes, sizes),
            (
                self.names,
                format!(
                    "objects are numbers in {name} as hotset writes it: {} names become numbers, in order of first \
                    appearance",
                    self.names
                ),
            ),
        ];
        all.into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(_, note)| note)
            .collect()
    }

    pub fn json(&self) -> Value {
        json!({
            "operations": self.operations,
            "kinds": self.kinds,
            "times": self.times,
            "sizes": self.sizes,
            "names": self.names,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A write to a file through a descriptor, and data and code of a mapped file.
    fn lost(to: Format) -> [u64; 4] {
        let batch = Batch {
            ids: vec![1, 2, 3],
            flags: vec![Flags::WRITE, Flags::MAPPED, Flags::MAPPED | Flags::EXEC],
            times: vec![0.0, 1.0, 1.5],
            sizes: vec![4096, 512, 512],
        };
        let mut lost = Lost::default();
        lost.count(&batch, to, 4096);
        [lost.operations, lost.kinds, lost.times, lost.sizes]
    }

    #[test]
    fn each_format_loses_what_it_has_no_place_for() {
        assert_eq!(lost(Format::Csv), [0, 0, 0, 0]);
        assert_eq!(lost(Format::OracleGeneral), [1, 2, 1, 0]);
        assert_eq!(lost(Format::Spc), [0, 2, 0, 2]);
        assert_eq!(lost(Format::Text), [1, 2, 2, 2]);
        assert_eq!(lost(Format::Lackey), [0, 1, 2, 2]);
    }
}
