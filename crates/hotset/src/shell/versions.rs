//! The names and versions of what `--json` prints.
use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

/// The first field of a JSON output: the command and the version of its fields. The version grows when a field
/// goes or changes its meaning, not when one is added.
pub fn schema(command: &str, version: u32) -> String {
    format!("hotset.{command}.{version}")
}

/// An object as the JSON text of a command, with the [`schema`] as its first field. A `schema` that the object
/// has already, such as that of a file, gives way.
///
/// # Errors
/// The value cannot become JSON.
pub fn document(command: &str, version: u32, object: &impl Serialize) -> Result<String> {
    let whole = Document::of(command, version, object)?;
    Ok(serde_json::to_string_pretty(&whole)?)
}

/// As [`document`], on one line, for commands that print an object a line.
///
/// # Errors
/// As [`document`].
pub fn line(command: &str, version: u32, object: &impl Serialize) -> Result<String> {
    let whole = Document::of(command, version, object)?;
    Ok(serde_json::to_string(&whole)?)
}

struct Document(String, Value);

impl Document {
    fn of(command: &str, version: u32, object: &impl Serialize) -> Result<Document> {
        let value = serde_json::to_value(object)?;
        Ok(Document(schema(command, version), value))
    }
}

impl Serialize for Document {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let fields = self.1.as_object().into_iter().flatten();
        let schema = Value::from(self.0.as_str());
        let first = std::iter::once(("schema", &schema));
        let rest = fields.map(|(name, value)| (name.as_str(), value));
        to.collect_map(first.chain(rest.filter(|(name, _)| *name != "schema")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_comes_first_and_once() {
        let object = serde_json::json!({"b": 1, "a": 2, "schema": 7});
        let text = line("lab.run", 1, &object).unwrap();
        assert!(
            text.starts_with(r#"{"schema":"hotset.lab.run.1","#),
            "{text}"
        );
        assert_eq!(text.matches("schema").count(), 1);
        let pretty: Value =
            serde_json::from_str(&document("lab.run", 1, &object).unwrap()).unwrap();
        assert_eq!(pretty, serde_json::from_str::<Value>(&text).unwrap());
        assert_eq!((&pretty["a"], &pretty["b"]), (&2.into(), &1.into()));
    }
}
