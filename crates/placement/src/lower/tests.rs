// SPDX-License-Identifier: GPL-2.0-or-later

use proptest::prelude::*;

use super::*;
use crate::body::Callee;

fn body(text: &str) -> Body {
    Lowerer::new().lower_parts(b"int f(struct file *file)", text.as_bytes(), Kind::Static)
}

fn calls(body: &Body, yes: bool) -> Vec<String> {
    let mut at = body.entry;
    let mut found = Vec::new();
    for _ in 0..100 {
        at = match &body.nodes[at as usize] {
            Node::Exit => break,
            Node::Call { callee, next, .. } => {
                found.push(match callee {
                    Callee::Name(name) => name.to_string(),
                    Callee::Member { member, owner } => format!("{owner}.{member}"),
                });
                *next
            }
            Node::Branch { yes: to, .. } if yes => *to,
            Node::Branch { no, .. } => *no,
            Node::Switch { arms, .. } if yes => arms[0].1,
            Node::Switch { other, .. } => *other,
            Node::Head { next, .. } => *next,
        };
    }
    found
}

#[test]
fn order_and_short_circuits() {
    let found = body(
        "{ int x = a(b(), c->d->e()); if (f() && !g()) return h(); return likely(y) ? i() : j(); }",
    );
    assert_eq!(calls(&found, true), ["b", "d.e", "a", "f", "g", "i"]);
    assert_eq!(calls(&found, false), ["b", "d.e", "a", "f", "j"]);
    assert_eq!(&*found.fault, "");
}

#[test]
fn gotos_and_switches() {
    let found = body(
        "{ switch (x) { case A: a(); case B: b(); break; default: d(); goto out; } e();\nout: f(); }",
    );
    assert_eq!(calls(&found, true), ["a", "b", "e", "f"]);
    assert_eq!(calls(&found, false), ["d", "f"]);
}

#[test]
fn hints() {
    let found = body(
        "{ err = a(); if (err) return err; if (!p) return -ENOMEM; if (unlikely(q)) b(); if (r->x) c(); }",
    );
    let hints: Vec<_> = found
        .nodes
        .iter()
        .filter_map(|node| match node {
            Node::Branch { text, hint, .. } => Some((&**text, *hint)),
            _ => None,
        })
        .collect();
    let expected = [
        ("r->x", Hint::Open),
        ("q", Hint::No),
        ("p", Hint::Yes),
        ("err", Hint::No),
    ];
    assert_eq!(hints, expected);
}

#[test]
fn what_has_nothing_to_do_or_ends_with_an_error_is_not_nominal() {
    let cases = [
        ("if (!len) return 0;", "len", Hint::Yes),
        ("if (!len) { return; }", "len", Hint::Yes),
        ("if (len == 0) return 0;", "len == 0", Hint::No),
        (
            "if (!iov_iter_count(to)) return 0;",
            "iov_iter_count(to)",
            Hint::Yes,
        ),
        ("if (!len) return a();", "len", Hint::Open),
        ("if (!to) return 0;", "to", Hint::Open),
        ("if (!count) return 0;", "count", Hint::Open),
        (
            "if (!iov_iter_count(from)) return 0;",
            "iov_iter_count(from)",
            Hint::Open,
        ),
        (
            "while (x) if (!a()) { error = -EINVAL; break; }",
            "a()",
            Hint::Yes,
        ),
        (
            "if (!a()) { ret = ERR_PTR(-EINVAL); goto next; } next: b();",
            "a()",
            Hint::Yes,
        ),
        (
            "while (x) if (!a()) { done = 1; break; }",
            "a()",
            Hint::Open,
        ),
        ("if (!a()) { error = -EINVAL; b(); }", "a()", Hint::Open),
    ];
    for (code, condition, expected) in cases {
        let header = b"int f(struct iov_iter *to, size_t len)";
        let text = format!("{{ {code} }}");
        let found = Lowerer::new().lower_parts(header, text.as_bytes(), Kind::Static);
        let hint = found.nodes.iter().find_map(|node| match node {
            Node::Branch { text, hint, .. } if **text == *condition => Some(*hint),
            _ => None,
        });
        assert_eq!(hint, Some(expected), "{code}");
    }
}

#[test]
fn loops_have_an_exit() {
    let found =
        body("{ for (;;) { if (a()) break; } b(); while (c()) d(); do { e(); } while (0); }");
    let loops: Vec<_> = found
        .nodes
        .iter()
        .filter_map(|node| match node {
            Node::Head {
                text,
                exit: Some(_),
                ..
            } => Some(&**text),
            _ => None,
        })
        .collect();
    assert_eq!(loops, ["while (c())", "for (;;)"]);
    assert_eq!(calls(&found, false).last().map(String::as_str), Some("a"));
}

#[test]
fn what_does_not_parse_is_reported() {
    let found = body("{ a(); if (x { b(); }");
    assert_ne!(&*found.fault, "");
    assert_eq!(&*body(&"{".repeat(5000)).fault, "line 1 of the function");
    let deep = format!("{{ {} x; {} }}", "if (a) {".repeat(3000), "}".repeat(3000));
    assert_eq!(&*body(&deep).fault, "too deeply nested");
    let long = format!("{{ x = {}1; }}", "1+".repeat(400_000));
    body(&long);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn never_panics(header in ".{0,200}", bytes in proptest::collection::vec(any::<u8>(), 0..1000)) {
        Lowerer::new().lower_parts(header.as_bytes(), &bytes, Kind::Macro);
    }

    #[test]
    fn never_panics_on_near_code(
        text in "(if \\(|while \\(|switch \\(|case 1:|do |else |goto a;|a: |break;|continue;|return |[a-c(){};=.&>!|?:]){0,80}",
        idioms in "([a-c(){};=.&>\\-*,# \n]|struct |typeof|asm|for_each_x|INDIRECT_CALL_1|\\.\\.\\.){0,200}",
    ) {
        for text in [text, idioms] {
            Lowerer::new().lower_parts(b"", text.as_bytes(), Kind::Static);
        }
    }
}
