//! Numbers and names in the lines of the kernel's reports.

/// The number after `key` and a `:` or `=`, as in `free:523` or `order=0`. Units behind it are left off.
pub(super) fn number(text: &str, key: &str) -> Option<u64> {
    let words = text.split([' ', ',', '\t']);
    let mut values = words.filter_map(|word| word.strip_prefix(key)?.strip_prefix([':', '=']));
    digits(values.next()?)
}

/// The word after `key=`, up to a comma or a blank.
pub(super) fn word<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut words = text.split([' ', ',']);
    words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

/// The number after `before`, where that stands, as in `Free swap  = 12kB`.
pub(super) fn after(text: &str, before: &str) -> Option<u64> {
    let (_, rest) = text.split_once(before)?;
    digits(rest.trim_start_matches([' ', '=', ':']))
}

/// The number at the begin.
pub(super) fn digits(text: &str) -> Option<u64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The pid and the name of `1234 (a name)`, and what follows. A name may have brackets of its own.
pub(super) fn process(text: &str) -> Option<(i32, String, &str)> {
    let pid = i32::try_from(digits(text)?).ok()?;
    let (_, rest) = text.split_once('(')?;
    let facts = [" total-vm:", ", UID", ", uid", " score "];
    let end = facts.iter().filter_map(|fact| rest.find(fact)).min();
    let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
    let close = name.rfind(')')?;
    Some((pid, name[..close].to_string(), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_names() {
        let text = "free:768kB boost:2048kB min:2212kB free_cma:0kB";
        assert_eq!(number(text, "free"), Some(768));
        assert_eq!(number(text, "free_cma"), Some(0));
        assert_eq!(number(text, "high"), None);
        assert_eq!(after("Free swap  = 12kB", "Free swap"), Some(12));
        let text = "oom-kill:constraint=X,oom_memcg=/a/b,task_memcg=/a,task=x,pid=1,uid=0";
        assert_eq!(word(text, "oom_memcg"), Some("/a/b"));
    }

    #[test]
    fn a_name_may_have_brackets() {
        let (pid, name, after) = process("12 ((sd-pam)) total-vm:5kB, anon-rss:3kB").unwrap();
        assert_eq!((pid, name.as_str()), (12, "(sd-pam)"));
        assert_eq!(number(after, "anon-rss"), Some(3));
        assert_eq!(process("12 (cut o"), None);
    }
}
