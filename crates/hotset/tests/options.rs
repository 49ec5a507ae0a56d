//! The guide's table of options, and the options of the commands: each has what the other has.
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

fn hotset(words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hotset"))
        .args(words.split_whitespace())
        .env("COLUMNS", "80")
        .output()
        .unwrap()
}

fn help(command: &str) -> String {
    let output = hotset(&format!("{command} --help"));
    assert!(output.status.success(), "{command}");
    String::from_utf8(output.stdout).unwrap()
}

/// The long options in a help text.
fn options(help: &str) -> BTreeSet<String> {
    let lines = help.lines().map(str::trim_start);
    let lines = lines.filter(|line| line.starts_with('-'));
    let words = lines.flat_map(|line| line.split_whitespace().take(2));
    let long = words.filter(|word| word.starts_with("--"));
    long.map(|word| word.trim_end_matches("...").to_string())
        .collect()
}

/// The options of each command that has no commands below it. The rules of `trace generate` are one command.
fn commands(path: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
    let text = help(path);
    let Some((_, below)) = text.split_once("\nCommands:\n") else {
        let words = path.split_whitespace().take(2);
        let name = words.collect::<Vec<_>>().join(" ");
        found.entry(name).or_default().extend(options(&text));
        return;
    };
    let lines = below.lines().take_while(|line| !line.is_empty());
    // Lines that go on are indented further.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for name in names.filter(|name| !["", "help"].contains(name)) {
        commands(format!("{path} {name}").trim_start(), found);
    }
}

/// A row of the table: the option, its commands, the earlier names.
struct Row {
    option: String,
    cell: String,
    commands: BTreeSet<String>,
    earlier: Vec<String>,
}

fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/options.md");
    let text = std::fs::read_to_string(path).unwrap();
    let ticked = |cell: &str| -> Vec<String> {
        let parts = cell.split('`').skip(1).step_by(2);
        parts.map(str::to_string).collect()
    };
    let rows = text.lines().filter(|line| line.starts_with("| `-"));
    let rows = rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let option = ticked(cells[1]).pop().unwrap();
        Row {
            option: option.split(' ').next().unwrap().to_string(),
            cell: cells[3].to_string(),
            commands: ticked(cells[3]).into_iter().collect(),
            earlier: ticked(cells[4]),
        }
    });
    rows.collect()
}

#[test]
fn each_command_is_in_the_rows_of_its_options_and_in_no_other() {
    let mut all = BTreeMap::new();
    commands("", &mut all);
    assert!(all.len() > 20, "{:?}", all.keys());
    let rows = rows();
    assert!(rows.len() > 15);
    for row in rows {
        let having = all.iter().filter(|(_, has)| has.contains(&row.option));
        let having: BTreeSet<String> = having.map(|(name, _)| name.clone()).collect();
        if row.cell.starts_with("all") {
            assert_eq!(having.len(), all.len(), "{}", row.option);
        } else if row.cell.starts_with("most") {
            assert!(having.len() * 2 > all.len(), "{}", row.option);
        } else {
            assert_eq!(row.commands, having, "{}", row.option);
        }
    }
}

#[test]
fn each_command_of_a_row_takes_the_earlier_names() {
    let mut checked = 0;
    for row in rows() {
        for (earlier, command) in row
            .earlier
            .iter()
            .flat_map(|old| row.commands.iter().map(move |command| (old, command)))
        {
            let output = hotset(&format!("{command} {earlier} 1 --help"));
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(
                said.contains(&format!("{earlier} is now {}", row.option)),
                "{command} {earlier}: {said}"
            );
            checked += 1;
        }
    }
    assert!(checked > 30, "{checked} checked");
}
