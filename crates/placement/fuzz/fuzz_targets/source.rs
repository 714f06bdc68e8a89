// SPDX-License-Identifier: GPL-2.0-or-later
//! Parses all functions of one arbitrary source file. This runs hundreds of times per second; a
//! complete tree (the other target) takes milliseconds each.

#![no_main]

use libfuzzer_sys::fuzz_target;
use placement::SourceParser;

thread_local! {
    static PARSER: std::cell::RefCell<SourceParser> =
        SourceParser::new().expect("the built-in facts are whole").into();
}

fuzz_target!(|data: &[u8]| {
    let parse = || PARSER.with_borrow_mut(|parser| parser.parse(data));
    let parsed = parse();
    let lines = data.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let named = parsed.functions + parsed.macros;
    assert!(parsed.partly_parsed.len() <= named, "{parsed:?}");
    let line = |it: &placement::PartlyParsed| it.line as usize;
    assert!(
        parsed
            .partly_parsed
            .iter()
            .all(|it| (1..=lines).contains(&line(it)))
    );
    // Earlier input must not matter, because the parser is used for one file after another.
    assert_eq!(parsed, parse());
});
