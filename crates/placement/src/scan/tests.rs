// SPDX-License-Identifier: GPL-2.0-or-later

use proptest::prelude::*;

use super::*;
use crate::clean::clean;
use crate::config::Config;
use crate::facts::ConfigFacts;

fn index(text: &str) -> FileIndex {
    scan(&clean(
        text.as_bytes(),
        &Config::everything(&ConfigFacts::default()),
    ))
}

fn words(index: &FileIndex, names: &[Name]) -> Vec<String> {
    names
        .iter()
        .map(|&name| index.names[name as usize].to_string())
        .collect()
}

#[test]
fn functions_and_their_calls() {
    let text = "EXPORT_SYMBOL(x);\nstatic __always_inline int\nf(struct a *b)\n\t__must_hold(lock)\n{\n\tif (g(b) && b->ops->read(b, h))\n\t\treturn i;\n}\nSYSCALL_DEFINE2(stat, int, a, int, b)\n{\n}\nint g(int x) { return 0; }\n#define k(x) l(x)\n";
    let found = index(text);
    let names: Vec<_> = found
        .functions
        .iter()
        .map(|f| (found.names[f.name as usize].to_string(), f.kind, f.line))
        .collect();
    assert_eq!(
        names,
        [
            ("f".to_owned(), Kind::Static, 2),
            ("stat".to_owned(), Kind::Syscall, 9),
            ("g".to_owned(), Kind::Global, 12),
            ("k".to_owned(), Kind::Macro, 13),
        ]
    );
    let f = &found.functions[0];
    assert_eq!(words(&found, &f.calls), ["g"]);
    let (structure, member) = f.fields[0];
    assert_eq!(words(&found, &[structure, member]), ["ops", "read"]);
    assert!(words(&found, &f.uses).contains(&"h".to_owned()));
}

#[test]
fn calls_through_pointers_that_are_guessed() {
    let found =
        index("int f(void) { return INDIRECT_CALL_2(READ_ONCE(a->ops)->send, g, h, a->b, c); }");
    let f = &found.functions[0];
    assert_eq!(f.fields.len(), 1);
    let (structure, member) = f.fields[0];
    assert_eq!(words(&found, &[structure, member]), ["", "send"]);
}

#[test]
fn tables_and_members() {
    let text = "WRAP_DIR_ITER(all)\nstatic const struct file_operations fops = {\n\t.open = my_open,\n\t.x = &other,\n\t.n = 1 + A,\n\t.all = shared_all,\n};\nstruct file {\n\tstruct inode *f_inode;\n\tconst struct file_operations\t*f_op;\n\tint (*call)(struct inode *);\n};\nvoid f(void)\n{\n\tstruct ctx c = { .actor = fill };\n\tw->func = done;\n}\n";
    let found = index(text);
    let text_of = |name: Name| found.names[name as usize].to_string();
    let tables: Vec<_> = found
        .tables
        .iter()
        .map(|t| {
            let fields: Vec<_> = t
                .fields
                .iter()
                .map(|&(f, v)| text_of(f) + "=" + &text_of(v))
                .collect();
            (text_of(t.name), text_of(t.structure), fields.join(" "))
        })
        .collect();
    let row = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(
        tables,
        [
            row("fops", "file_operations", "open=my_open x=other all=all"),
            row("", "ctx", "actor=fill"),
            row("", "", "func=done"),
        ]
    );
    let members: Vec<_> = found
        .members
        .iter()
        .map(|&(a, b, c)| format!("{}.{}:{}", text_of(a), text_of(b), text_of(c)))
        .collect();
    assert_eq!(members, ["file.f_inode:inode", "file.f_op:file_operations"]);
}

#[test]
fn an_unbalanced_function_does_not_swallow_the_next() {
    let found = index("int f(void)\n{\n\tif (x) {\n}\nint g(void)\n{\n}\n");
    assert_eq!(found.functions.len(), 2);
}

proptest! {
    #[test]
    fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        scan(&clean(&bytes, &Config::everything(&ConfigFacts::default())));
    }

    #[test]
    fn never_panics_on_near_code(text in "([a-c(){};=.&>\\-*,\n ]|struct |static |SYSCALL_DEFINE){0,200}") {
        scan(&clean(text.as_bytes(), &Config::everything(&ConfigFacts::default())));
    }
}
