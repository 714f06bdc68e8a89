// SPDX-License-Identifier: GPL-2.0-or-later

const MOST_LINES: usize = 6;
const LONGEST_LINE: usize = 300;

/// `fs/open.o` in `  CC      fs/open.o`: only objects of the kernel itself count.
pub(super) fn compiled(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("  ")?;
    let (word, target) = rest.split_once(' ')?;
    let target = target.trim();
    let counts = matches!(word, "CC" | "AS") && target.ends_with(".o") && !target.starts_with('/');
    counts.then_some(target)
}

pub(super) fn finishing(line: &str) -> Option<&'static str> {
    let mut words = line.split_whitespace();
    let (word, target) = (words.next()?, words.next().unwrap_or(""));
    match word {
        "LD" if target.contains("vmlinux") => Some("linking vmlinux"),
        "BTF" => Some("writing type information (BTF)"),
        "KSYMS" | "KSYM" => Some("writing the symbol table"),
        "SORTTAB" => Some("sorting tables"),
        "LZ4" | "ZSTD" | "XZKERN" | "GZIP" | "ZSTD22" => Some("compressing the image"),
        "BUILD" => Some("writing bzImage"),
        _ => None,
    }
}

pub(super) fn first_error(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().collect();
    let is_make = |line: &str| line.starts_with("make") && line.contains("***");
    let first = lines.iter().position(|line| is_error(line));
    let start = match first {
        Some(first) => first,
        None => match lines.iter().position(|line| is_make(line)) {
            // The cause was printed just before make's line.
            Some(at) => at.saturating_sub(3),
            None => lines.len().saturating_sub(MOST_LINES),
        },
    };
    // Other jobs print lines in between, but the compiler's excerpt follows at once.
    let is_kept = |line: &&&str| !is_progress(line) && !line.trim().is_empty();
    lines[start..]
        .iter()
        .filter(is_kept)
        .take(MOST_LINES)
        .map(|line| line.trim_end().chars().take(LONGEST_LINE).collect())
        .collect()
}

fn is_error(line: &str) -> bool {
    const SIGNS: [&str; 12] = [
        ": error: ",
        ": fatal error: ",
        ": Error: ",
        "undefined reference to ",
        "multiple definition of ",
        "No space left on device",
        ": not found",
        "Cannot allocate memory",
        "error: objtool",
        "syntax error",
        "virtual memory exhausted",
        "Killed (program cc1)",
    ];
    let begins = ["FAILED: ", "ERROR: modpost"].iter();
    SIGNS.iter().any(|sign| line.contains(sign))
        || { begins }.any(|sign| line.starts_with(sign))
        || line.starts_with("BTF: ") && line.contains("failed")
}

fn is_progress(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("  ") else {
        return false;
    };
    let word = rest.split(' ').next().unwrap_or("");
    let is_upper = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit();
    !word.is_empty() && word.len() <= 8 && word.bytes().all(is_upper)
}

pub(super) fn hint(lines: &[String]) -> Option<&'static str> {
    let has = |sign: &str| lines.iter().any(|line| line.contains(sign));
    if has("No space left on device") {
        return Some("free some space, then run the same command again to continue");
    }
    let ran_out = has("Killed") || has("annot allocate memory");
    ran_out.then_some("memory ran out: try --jobs 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_counted() {
        assert_eq!(compiled("  CC      fs/open.o"), Some("fs/open.o"));
        assert_eq!(
            compiled("  AS      arch/x86/entry/entry.o"),
            Some("arch/x86/entry/entry.o")
        );
        assert_eq!(compiled("  CC      /tmp/x/fixdep.o"), None);
        for line in [
            "  HOSTCC  scripts/x.o",
            "  AR      fs/built-in.a",
            "CC x.o",
            "",
            "  CC",
        ] {
            assert_eq!(compiled(line), None, "{line}");
        }
        assert_eq!(
            finishing("  BTF     .tmp_vmlinux1.btf.o"),
            Some("writing type information (BTF)")
        );
        assert_eq!(finishing("  LD      fs/built-in.o"), None);
    }

    #[test]
    fn the_first_error_is_shown_without_what_other_jobs_print() {
        let log = "  CC      fs/a.o\n../fs/b.c: In function ‘f’:\n\
            ../fs/b.c:3:5: error: ‘x’ undeclared\n    3 |     x = 1;\n      |     ^\n\
              \n  CC      fs/c.o\nmake[3]: *** [b.o] Error 1\n../fs/d.c:1:1: error: late\n";
        let lines = first_error(log);
        assert_eq!(lines[0], "../fs/b.c:3:5: error: ‘x’ undeclared");
        assert_eq!(lines[1], "    3 |     x = 1;");
        assert!(!lines.iter().any(|l| l.contains("fs/c.o")));
    }

    #[test]
    fn other_ends_are_told_too() {
        let lines = first_error("a\nb\nc\nd\nmake: *** No rule to make target 'x'.  Stop.\n");
        assert_eq!(
            lines,
            [
                "b",
                "c",
                "d",
                "make: *** No rule to make target 'x'.  Stop."
            ]
        );
        assert_eq!(first_error("one\n\n"), ["one"]);
        assert!(first_error("").is_empty());
        let lines = first_error("  LD      vmlinux\nld: write: No space left on device\n");
        assert!(hint(&lines).unwrap().contains("free some space"));
        assert_eq!(hint(&["a.c:1:1: error: gelf.h".into()]), None);
    }
}
