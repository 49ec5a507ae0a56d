//! The parts of every page: its frame, sections and tables.
use crate::format::table::{Cell, Row, Table, Tone};
use crate::format::text::{clean, line};
use maud::{html, Markup, PreEscaped, DOCTYPE};

const STYLE: &str = include_str!("report.css");

/// The elements are closed as in XML, since pages are well-formed XML too.
const META: &str = "<meta charset=\"utf-8\"/>\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
    <meta name=\"color-scheme\" content=\"light dark\"/>";

/// A whole page.
pub fn page(title: &str, body: Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (PreEscaped(META))
                title { (line(title)) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    page.into_string() + "\n"
}

/// Links to the sections of the page, each an anchor and a title.
pub fn contents<'a>(links: impl Iterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        nav aria-label="Contents" {
            @for (id, title) in links {
                a href=(format!("#{id}")) { (line(title)) } " "
            }
        }
    }
}

pub fn section(id: &str, title: &str, body: Markup) -> Markup {
    html! {
        section id=(id) { h2 { (line(title)) } (body) }
    }
}

/// Text as it is, such as a command.
pub fn verbatim(text: &str) -> Markup {
    html! { pre tabindex="0" { (clean(text)) } }
}

/// A table of a page. `key` draws the mark of a row from [`Row::arm`].
pub fn table(table: &Table, class: &str, key: fn(usize) -> Markup) -> Markup {
    html! {
        div class="wide" tabindex="0" role="region" aria-label=(line(&table.caption)) {
            table class=(class) {
                caption { (line(&table.caption)) }
                thead { tr {
                    @for (place, (head, small)) in table.head.iter().enumerate() {
                        th scope="col" class=[numeric(table, place).then_some("num")] {
                            (clean(head))
                            @if !small.is_empty() { small { (clean(small)) } }
                        }
                    }
                } }
                @for group in &table.groups {
                    tbody {
                        @if let Some(title) = &group.title {
                            tr class="group" {
                                th scope="rowgroup" colspan=(table.head.len()) {
                                    span { (clean(title)) }
                                }
                            }
                        }
                        @for one in &group.rows { (row(table, one, key)) }
                    }
                }
            }
        }
        @if !table.notes.is_empty() {
            p class="notes" {
                @for note in &table.notes { span { (clean(note)) } " " }
            }
        }
    }
}

fn numeric(table: &Table, place: usize) -> bool {
    let rows = table.groups.iter().flat_map(|group| &group.rows);
    rows.into_iter().any(|row| row.cells[place].numeric)
}

fn row(table: &Table, row: &Row, key: fn(usize) -> Markup) -> Markup {
    let key = row.arm.map(key);
    html! {
        tr {
            @for (place, (cell, (head, _))) in row.cells.iter().zip(&table.head).enumerate() {
                @let numeric = cell.numeric.then_some("num");
                @if place == 0 {
                    th scope="row" class=[numeric] {
                        @if let Some(key) = &key { (key) }
                        (content(cell))
                    }
                } @else {
                    // Narrow screens show the column's head beside the cell.
                    td data-head=(clean(head)) class=[numeric] { (content(cell)) }
                }
            }
        }
    }
}

fn content(cell: &Cell) -> Markup {
    html! {
        @if !cell.main.is_empty() {
            span class=[class(cell.tone)] { (clean(&cell.main)) }
        }
        @for (text, tone) in &cell.small {
            small class=[class(*tone)] { (clean(text)) }
        }
    }
}

fn class(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("good"),
        Tone::Bad => Some("bad"),
        Tone::Faint => Some("faint"),
    }
}
