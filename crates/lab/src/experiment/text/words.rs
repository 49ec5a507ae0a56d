//! Messages about values, without the words of Rust.

/// A message of serde in plain words: "invalid type: string \"30s\", expected f64" is "\"30s\": expected a number".
/// An unknown name is followed by the nearest of those that the message lists.
pub fn plain(message: &str) -> String {
    let message = message.trim().replace('\n', ", ");
    let kinds = ["invalid type: ", "invalid value: "];
    let rest = kinds.iter().find_map(|kind| message.strip_prefix(kind));
    match rest.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, wanted)) => format!("{}: expected {}", value(found), kind(wanted)),
        None => with_nearest(message),
    }
}

/// "string \"a\"" is "\"a\"", "integer `5`" is 5, "map" is a table.
fn value(found: &str) -> &str {
    let quoted = |mark| Some(&found[found.find(mark)?..]);
    match found {
        "map" => "a table",
        "sequence" => "a list",
        "unit variant" => "a name alone",
        _ if found.starts_with("string ") => quoted('"').unwrap_or(found),
        _ => quoted('`').map_or(found, |value| value.trim_matches('`')),
    }
}

/// A type of Rust in the words of a reader of TOML. Words of our own stay.
fn kind(wanted: &str) -> &str {
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" | "bool" => "true or false",
        "a string" | "string" | "str" => "text in quotes",
        "a sequence" => "a list, [ ... ]",
        "a map" | "struct variant" | "newtype variant" => "a table, { ... }",
        _ if wanted.starts_with("struct ") => "a table, { ... }",
        own => own,
    }
}

/// "unknown field `memory`, expected one of `memory_mb`, `cpus`; did you mean memory_mb?"
fn with_nearest(message: String) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let (true, Some(wrong)) = (message.starts_with("unknown "), quoted.next()) else {
        return message;
    };
    let meant = names::suggestion(wrong, quoted);
    message + &meant
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn types_have_plain_names() {
        for (message, wanted) in [
            (
                "invalid type: string \"30s\", expected f64",
                "\"30s\": expected a number",
            ),
            (
                "invalid value: integer `-2`, expected u32",
                "-2: expected a whole number, 0 or more",
            ),
            (
                "invalid type: map, expected a sequence",
                "a table: expected a list, [ ... ]",
            ),
            (
                "invalid type: floating point `1.5`, expected a size: bytes",
                "1.5: expected a size: bytes",
            ),
            (
                "unknown field `memroy_mb`, expected one of `memory_mb`, `cpus`",
                "unknown field `memroy_mb`, expected one of `memory_mb`, `cpus`; did you mean memory_mb?",
            ),
        ] {
            assert_eq!(plain(message), wanted);
        }
    }
}
