//! The table of tasks in a report: its columns differ from kernel to kernel.
use super::super::report::{Crowd, Task, Tasks};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Rows that are kept.
const LARGEST: usize = 16;
/// So many processes of a name are a crowd.
const CROWD: u64 = 3;
/// Columns of numbers after the pid, before and since kernels tell kinds of memory apart (6.8).
const OLD: [&str; 7] = [
    "uid",
    "tgid",
    "total_vm",
    "rss",
    "pgtables_bytes",
    "swapents",
    "oom_score_adj",
];
const NEW: [&str; 10] = [
    "uid",
    "tgid",
    "total_vm",
    "rss",
    "rss_anon",
    "rss_file",
    "rss_shmem",
    "pgtables_bytes",
    "swapents",
    "oom_score_adj",
];

/// The rows so far. Pages.
#[derive(Debug, Default)]
pub(super) struct Table {
    columns: Vec<String>,
    rows: Vec<Task>,
    total_vm: BTreeMap<i32, u64>,
    split: bool,
    headed: bool,
    /// Rows that could not be read.
    pub strange: u64,
}

impl Table {
    /// Takes the heading or a row; whether it was one.
    pub fn take(&mut self, text: &str) -> bool {
        let Some((pid, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) else {
            return false;
        };
        if pid.trim() == "pid" {
            self.headed = true;
            let words = rest.split_whitespace().filter(|word| *word != "name");
            self.columns = words.map(str::to_string).collect();
            return true;
        }
        let Ok(pid) = pid.trim().parse::<i32>() else {
            return false;
        };
        match self.row(pid, rest) {
            Some(task) => self.rows.push(task),
            // A number in brackets alone is no row yet.
            None if !self.headed => return false,
            None => self.strange += 1,
        }
        true
    }

    fn row(&mut self, pid: i32, text: &str) -> Option<Task> {
        let numbers = text
            .split_whitespace()
            .take_while(|word| word.parse::<i64>().is_ok());
        let known: Vec<&str> = match (self.columns.is_empty(), numbers.count()) {
            (false, _) => self.columns.iter().map(String::as_str).collect(),
            (true, many) if many >= NEW.len() => NEW.to_vec(),
            (true, _) => OLD.to_vec(),
        };
        let mut rest = text.trim_start();
        let mut values: BTreeMap<&str, i64> = BTreeMap::new();
        for column in &known {
            let (word, after) = rest.split_once(' ')?;
            values.insert(*column, word.parse().ok()?);
            rest = after.trim_start();
        }
        let pages = |column: &str| {
            values
                .get(column)
                .and_then(|value| u64::try_from(*value).ok())
        };
        let name = rest.trim_end();
        let split = pages("rss_anon");
        let task = Task {
            pid,
            uid: u32::try_from(pages("uid")?).ok()?,
            name: name.to_string(),
            resident: split.or(pages("rss"))?,
            swapped: pages("swapents").unwrap_or(0),
            shared: pages("rss_shmem").unwrap_or(0),
            adjust: values.get("oom_score_adj").copied().unwrap_or(0),
        };
        if name.is_empty() {
            return None;
        }
        self.split |= split.is_some();
        self.total_vm.insert(pid, pages("total_vm").unwrap_or(0));
        Some(task)
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Pages of a process's address space.
    pub fn total_vm(&self, pid: i32) -> Option<u64> {
        self.total_vm.get(&pid).copied()
    }

    /// The table in bytes. `page`: bytes.
    pub fn close(mut self, page: u64) -> Tasks {
        for task in &mut self.rows {
            task.resident = task.resident.saturating_mul(page);
            task.swapped = task.swapped.saturating_mul(page);
            task.shared = task.shared.saturating_mul(page);
        }
        self.rows.sort_by_key(|task| Reverse(task.own()));
        let mut crowds: BTreeMap<(&str, u32), Crowd> = BTreeMap::new();
        let mut bytes = 0_u64;
        for task in &self.rows {
            bytes = bytes.saturating_add(task.own());
            let crowd = crowds.entry((&task.name, task.uid)).or_default();
            crowd.name.clone_from(&task.name);
            crowd.uid = task.uid;
            crowd.count += 1;
            crowd.bytes = crowd.bytes.saturating_add(task.own());
        }
        let mut crowds: Vec<Crowd> = crowds.into_values().collect();
        crowds.retain(|crowd| crowd.count >= CROWD);
        crowds.sort_by_key(|crowd| Reverse(crowd.bytes));
        crowds.truncate(LARGEST);
        let count = self.rows.len() as u64;
        self.rows.truncate(LARGEST);
        Tasks {
            count,
            bytes,
            split: self.split,
            largest: self.rows,
            crowds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_old_and_new_kernels_are_found_also_without_a_heading() {
        let old =
            "[  123]  1000   123      764      589    36864       11             0 Web Content";
        let new = "[    124]     0   124    10594     7554     6992        2       560   114688     1820          -500 hog";
        for headed in [false, true] {
            let mut table = Table::default();
            if headed {
                table.take("[ pid ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name");
            }
            assert!(table.take(old) && !table.take("[<6005c260>] ? um_set_signals+0x0/0x90"));
            let tasks = table.close(4096);
            let task = &tasks.largest[0];
            assert_eq!(
                (task.pid, task.uid, task.name.as_str()),
                (123, 1000, "Web Content")
            );
            assert_eq!(task.own(), 600 * 4096);
            let mut table = Table::default();
            if headed {
                table.take("[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name");
            }
            assert!(table.take(new));
            assert_eq!(table.total_vm(124), Some(10594));
            let tasks = table.close(4096);
            let task = &tasks.largest[0];
            assert_eq!(
                (task.own(), task.shared),
                ((6992 + 1820) * 4096, 560 * 4096)
            );
            assert_eq!(task.adjust, -500);
        }
    }

    #[test]
    fn a_row_that_is_cut_off_is_counted() {
        let mut table = Table {
            headed: true,
            ..Table::default()
        };
        for row in [
            "[  123]  1000   123",
            "[  123]  1000   123  5 5 5 5 0 ",
            "[  1]",
        ] {
            assert!(table.take(row), "{row}");
        }
        assert_eq!(table.strange, 3);
        assert!(table.is_empty());
    }
}
