// SPDX-License-Identifier: GPL-2.0-or-later
//! Malicious and damaged trees. Each analysis ends with a document, or with an error that says what
//! is wrong.

use std::collections::BTreeMap;
use std::path::Path;

use model::{Exit, Failure, Fault, Stored};
use placement::{PlacementDocument, Request, SourceParser, Tree, analyse};
use proptest::prelude::*;

use super::{Files, copied, request, toy};

/// The small tree.
fn files() -> Files {
    super::files(&toy())
}

/// Analyses a tree of files. It must be refused, or result in a consistent document.
fn analysed(files: Files, syscalls: &[&str]) -> Result<PlacementDocument, Failure> {
    let request = Request {
        explain: true,
        ..request(syscalls)
    };
    let tree = Tree::from_files("tree", files)?;
    let document = analyse(&tree, &request)?;
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    PlacementDocument::parse(&bytes).unwrap();
    Ok(document)
}

/// Asserts that the analysis neither panics nor reports an internal error.
fn check(result: Result<PlacementDocument, Failure>) {
    if let Err(error) = result {
        assert_ne!(error.exit(), Exit::Internal, "{error}");
        assert!(error.hint().is_some());
    }
}

fn with(path: &str, text: impl Into<Vec<u8>>) -> Files {
    let mut files = files();
    files.insert(path.to_owned(), text.into());
    files
}

/// The source of a system call with this body.
fn syscall(body: &str) -> String {
    format!("SYSCALL_DEFINE0(evil)\n{{\n{body}\n\tsecurity_inode_getattr(x);\n}}\n")
}

#[test]
fn one_line_of_megabytes() {
    let many = |text: &str| text.repeat((3 << 20) / text.len());
    let pieces = [
        "(",
        ")",
        "{",
        "}",
        "={},",
        "f(",
        "f(x)",
        "a.b=(",
        ".b=(c)",
        "\"",
        "'",
        "/*",
        "\\\n",
        "#",
        "#if ",
        "x ",
        "case 1 ... ",
        "asm ",
        "struct a ",
        "if(a)",
        "a&&",
        "a?b:",
        "->x",
        "##",
        "LSM_HOOK_INIT(a, b)",
        "LSM_HOOK(",
        "for_each_x(a) ",
        "goto a;",
        "a:",
        "switch(a){",
    ];
    let check_all = |piece: &str| {
        let text = many(piece);
        check(analysed(with("fs/evil.c", text.clone()), &["stat"]));
        check(analysed(with("fs/evil.c", syscall(&text)), &["evil"]));
        check(analysed(
            with("security/toy/evil.c", text.clone()),
            &["stat"],
        ));
        let defined = format!("#define LSM_HOOK(x) {text}\n");
        check(analysed(with("security/toy/evil.c", defined), &["stat"]));
        check(analysed(with("include/linux/fs.h", text), &["stat"]));
    };
    std::thread::scope(|scope| {
        for half in pieces.chunks(pieces.len().div_ceil(2)) {
            scope.spawn(|| half.iter().copied().for_each(check_all));
        }
    });
}

#[test]
fn deep_nesting() {
    for (open, close) in [
        ("if (a) {", "}"),
        ("(", ")"),
        ("f(", ")"),
        ("a ? (", ") : b"),
        ("{", "}"),
        ("switch (a) { case 1: ", "}"),
        ("do {", "} while (x);"),
        ("!", ""),
        ("a[", "]"),
        ("if (a) b(); else ", ""),
        ("a = ", ""),
    ] {
        let body = open.repeat(20_000) + "x" + &close.repeat(20_000) + ";";
        let document = analysed(with("fs/evil.c", syscall(&body)), &["evil"]).unwrap();
        let listed = document.unparsed.iter().any(|u| u.function == "evil");
        let mut hooks = document.syscalls[0].hooks.iter();
        assert!(
            listed || hooks.any(|hook| hook.hook == "inode_getattr"),
            "{open}"
        );
        let nested = format!("#if {}\nint x;\n#endif\n", open.repeat(20_000));
        check(analysed(with("fs/evil.c", nested), &["stat"]));
    }
    let conditions = "#if 1\n".repeat(100_000) + "int x;\n" + &"#endif\n".repeat(100_000);
    check(analysed(with("fs/evil.c", conditions), &["stat"]));
}

#[test]
fn loops_in_loops_have_no_bound_however_deep() {
    for depth in [1, 30, 60] {
        let body =
            "while (a) {\n".repeat(depth) + "security_path_mkdir(x);\n" + &"}\n".repeat(depth);
        let document = analysed(with("fs/evil.c", syscall(&body)), &["evil"]).unwrap();
        let hooks = &document.syscalls[0].hooks;
        let inside = hooks.iter().find(|hook| hook.hook == "path_mkdir").unwrap();
        assert_eq!(inside.max.to_string(), "unbounded", "{depth}");
    }
}

#[test]
fn many_of_one_name() {
    let calls: String = (0..20_000)
        .map(|n| {
            format!("static void f(void)\n{{\n\tf(); g{n}(); security_inode_getattr(x);\n}}\n")
        })
        .collect();
    let text = calls + &syscall("f();");
    check(analysed(with("fs/evil.c", text), &["evil"]));
    let members: String = (0..60_000).map(|n| format!("struct t{n} *m;\n")).collect();
    let text = format!("struct s {{\n{members}}};\n");
    check(analysed(with("include/linux/evil.h", text), &["stat"]));
    let tables: String = (0..5_000)
        .map(|n| {
            format!(
                "static int m{n}(void)\n{{\n\treturn security_inode_getattr(x);\n}}\nstatic const struct \
                 inode_operations o{n} = {{\n\t.mkdir = m{n},\n}};\n"
            )
        })
        .collect();
    let document = analysed(with("fs/toyfs/evil.c", tables), &["mkdir"]).unwrap();
    assert_eq!(document.syscalls.len(), 1);
}

#[test]
fn circles_and_aliases() {
    let text = "#define a b\n#define b a\n#define c(x) c(x)\n#define d e\n".to_owned()
        + &(0..2_000)
            .map(|n| format!("#define n{n} n{}\n", n + 1))
            .collect::<String>()
        + &syscall("a(); b(); c(x); n0(); evil();")
        + "void x(void)\n{\n\ty();\n}\nvoid y(void)\n{\n\tx();\n\tz();\n}\nvoid z(void)\n{\n\ty();\n\tsecurity_inode_getattr(q);\n}\n"
        + "SYSCALL_DEFINE0(round)\n{\n\tx();\n}\n";
    let document = analysed(with("fs/evil.c", text), &["evil", "round"]).unwrap();
    let round = &document.syscalls[1];
    assert_eq!(round.hooks[0].max.to_string(), "unbounded");
    assert!(!document.circles.is_empty());
    // The number of calls doubles at each of 200 levels.
    let doubling: String = (0..200)
        .map(|n| format!("void e{n}(void)\n{{\n\te{0}();\n\te{0}();\n}}\n", n + 1))
        .collect();
    let text = doubling
        + "void e200(void)\n{\n\tsecurity_inode_getattr(x);\n}\nSYSCALL_DEFINE0(evil)\n{\n\te0();\n}\n";
    let document = analysed(with("fs/evil.c", text), &["evil"]).unwrap();
    assert_eq!(document.syscalls[0].hooks[0].max.to_string(), "unbounded");
}

#[test]
fn a_tree_with_missing_parts_is_refused() {
    for (missing, expected) in [
        ("Makefile", "it has no Makefile"),
        ("security/security.c", "it has no security/security.c"),
        ("fs/namei.c", "it has no fs/namei.c"),
        ("include/linux/lsm_hook_defs.h", "define 0 LSM hooks"),
    ] {
        let mut files = files();
        files.remove(missing);
        let error = analysed(files, &["stat"]).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let hooks = "LSM_HOOK(int, 0, a, void)\n";
    let many = (0..9_000).map(|n| hooks.replace('a', &format!("a{n}")));
    let many = with("include/linux/lsm_hook_defs.h", many.collect::<String>());
    let error = analysed(many, &["stat"]).unwrap_err().to_string();
    assert!(error.contains("is not a kernel tree"), "{error}");
}

#[test]
#[cfg(unix)]
fn links_and_pipes_lead_nowhere() {
    let directory = tempfile::tempdir().unwrap();
    copied(directory.path());
    let link = |to: &str, at: &str| {
        std::os::unix::fs::symlink(to, directory.path().join(at)).unwrap();
    };
    link("..", "fs/toyfs/up");
    link("loop", "fs/toyfs/loop");
    link("/dev/zero", "fs/toyfs/zero.c");
    link("/proc", "kernel");
    let pipe = directory.path().join("fs/toyfs/pipe.c");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let request = Request {
        all: false,
        ..request(&[])
    };
    let whole = analyse(&Tree::open(toy()).unwrap(), &request).unwrap();
    let sources = whole.coverage.files;
    let document = analyse(&Tree::open(directory.path()).unwrap(), &request).unwrap();
    // Only the files of the small tree are read: links and pipes are not followed.
    assert_eq!(document.coverage.files, sources);
    // A required file is a pipe.
    std::fs::remove_file(directory.path().join("fs/namei.c")).unwrap();
    std::fs::rename(&pipe, directory.path().join("fs/namei.c")).unwrap();
    let error = Tree::open(directory.path()).unwrap_err().to_string();
    assert!(error.contains("is not a kernel tree"), "{error}");
}

/// Inputs that a fuzzer found or started with.
#[test]
fn corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/tree");
    let mut seen = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        check(analysed(placed(&bytes), &[]));
        seen += 1;
    }
    assert!(seen >= 10, "{seen} files in the corpus");
}

/// Parses each file of the corpus on its own, twice. Both results must be the same.
#[test]
fn sources_by_themselves() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/source");
    let mut parser = SourceParser::new().unwrap();
    let mut functions = BTreeMap::new();
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let parsed = parser.parse(&bytes);
        assert_eq!(parsed, SourceParser::new().unwrap().parse(&bytes));
        for cut in 0..bytes.len() {
            parser.parse(&bytes[..cut]);
            parser.parse(&bytes[cut..]);
        }
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let wrong = parsed.partly_parsed.iter().filter(|it| !it.is_macro);
        functions.insert(name, (parsed.functions, wrong.count()));
    }
    // All idioms of the kernel are understood.
    for (name, count) in [
        ("guards", 1),
        ("loops", 1),
        ("switches", 1),
        ("asm", 1),
        ("syscalls", 2),
    ] {
        assert_eq!(functions[name], (count, 0), "{name}");
    }
}

/// The small tree with one file replaced. The first byte selects the file, as in the fuzz target.
fn placed(bytes: &[u8]) -> Files {
    let mut files = files();
    if let Some((&which, text)) = bytes.split_first() {
        let names: Vec<String> = files.keys().cloned().collect();
        let name = names[usize::from(which) % names.len()].clone();
        files.insert(name, text.to_vec());
    }
    files
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_file_can_be_anything(which: u8, text in proptest::collection::vec(any::<u8>(), 0..3000)) {
        let bytes = [vec![which], text].concat();
        check(analysed(placed(&bytes), &[]));
    }

    #[test]
    fn any_file_can_be_damaged(
        which: u8, at in 0.0f64..1.0, length in 0usize..200, cut: bool,
        by in "([(){};#,*/\"\\\\=&.\n]|->|\\.\\.\\.|#if 0\n|#endif\n|#define |SYSCALL_DEFINE0\\(|struct |for_each_x){0,12}",
    ) {
        let files = files();
        let name = files.keys().nth(usize::from(which) % files.len()).unwrap().clone();
        let mut text = files[&name].clone();
        let at = (at * text.len() as f64) as usize;
        let end = if cut { text.len() } else { (at + length).min(text.len()) };
        text.splice(at..end, by.bytes());
        check(analysed(with(&name, text), &[]));
    }

    #[test]
    fn any_source_is_taken_apart(text in proptest::collection::vec(any::<u8>(), 0..3000)) {
        let parsed = SourceParser::new().unwrap().parse(&text);
        let lines = text.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let starts = parsed.partly_parsed.iter().map(|it| it.line as usize);
        assert!(starts.into_iter().all(|line| (1..=lines).contains(&line)));
    }

    #[test]
    fn near_code_is_understood_or_listed(body in "([a-c] = [a-c]\\([a-c]\\);|if \\([a-c]\\) |else |\\{|\\}|return;|goto [a-c];|[a-c]: ;|while \\([a-c]\\) |for \\(;;\\) |switch \\(a\\) \\{|case [a-c]: |break;|security_inode_getattr\\(x\\);){0,60}") {
        check(analysed(with("fs/evil.c", syscall(&body)), &["evil"]));
    }
}
