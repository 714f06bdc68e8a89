// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom IMA policies: rules, one per line, as in `/etc/ima/ima-policy`.

use model::{CustomPolicy, excerpt, nearest};

use super::super::{PolicyError, Prepared, Request, tools};
use super::{GivenFile, files, prepared};

/// From `Documentation/ABI/testing/ima_policy`.
const ACTIONS: [&str; 7] = [
    "measure",
    "dont_measure",
    "appraise",
    "dont_appraise",
    "audit",
    "hash",
    "dont_hash",
];
/// The kernel takes less than a page per write (`ima_write_policy()`).
const RULE_LIMIT: usize = 4_095;
/// Limited because all rules are tried for each file.
const RULES_LIMIT: usize = 100_000;

pub(in super::super) fn prepare(
    request: &Request<'_>,
    of: &CustomPolicy,
) -> Result<Prepared, PolicyError> {
    let mut rules = Vec::new();
    for file in &files(of)? {
        read(file, &mut rules).map_err(|(why, hint)| {
            tools::failed(format!("{}: {why}", file.name.display()), hint)
        })?;
    }
    if rules.is_empty() {
        return Err(tools::failed(
            format!("no rules in {}", of.files.join(", ")),
            "name a file such as /etc/ima/ima-policy, with rules such as `measure func=FILE_CHECK`",
        ));
    }
    let has = |action: &str| {
        let mut actions = rules.iter().map(|rule| first_word(rule));
        actions.any(|of| of == action)
    };
    check_proofs(of, has("appraise"), has("measure"))?;
    if has("appraise") {
        tools::need(request, "IMA appraisal", "CONFIG_IMA_APPRAISE")?;
    }
    let mut prepared = prepared(of);
    prepared.file("rules", rules.join("\n") + "\n");
    super::sign::add(request, &rules, &mut prepared)?;
    prepared
        .kernel_arguments
        .extend(tools::integrity_argument(request));
    prepared.steps.push(format!(
        "ima: {} rules from {}",
        rules.len(),
        of.files.join(" ")
    ));
    Ok(prepared)
}

fn first_word(rule: &str) -> &str {
    rule.split_ascii_whitespace().next().unwrap_or_default()
}

/// Appends the rules of a file; the error is a message and a hint.
fn read(file: &GivenFile, rules: &mut Vec<String>) -> Result<(), (String, String)> {
    let refuse = |number: usize, why: String, hint: String| {
        Err((format!("line {}: {why}", number + 1), hint))
    };
    let write =
        || "write one rule per line: measure func=FILE_CHECK mask=MAY_READ uid=0".to_owned();
    let text = std::str::from_utf8(&file.bytes).map_err(|_| {
        let hint = "write the rules as text: the guest's kernel cannot verify a signed policy";
        ("not a text file".to_owned(), hint.to_owned())
    })?;
    for (number, line) in text.lines().enumerate() {
        let rule = line.trim();
        if rule.is_empty() || rule.starts_with('#') {
            continue;
        }
        if rule.len() > RULE_LIMIT {
            let why = format!("the rule is longer than {RULE_LIMIT} bytes");
            return refuse(number, why, write());
        }
        if rule.chars().any(|c| c.is_control() && c != '\t') {
            return refuse(
                number,
                "the rule has a control character".to_owned(),
                write(),
            );
        }
        let action = first_word(rule);
        if !ACTIONS.contains(&action) {
            let near = nearest(action, ACTIONS);
            let hint = near.map_or_else(write, |near| format!("did you mean {near}?"));
            return refuse(number, format!("`{}` is not a rule", excerpt(rule)), hint);
        }
        if rules.len() == RULES_LIMIT {
            let why = format!("more than {RULES_LIMIT} rules");
            return refuse(number, why, "remove rules without effect".to_owned());
        }
        rules.push(rule.to_owned());
    }
    Ok(())
}

fn check_proofs(of: &CustomPolicy, appraises: bool, measures: bool) -> Result<(), PolicyError> {
    let files = of.files.join(", ");
    if !of.denied.is_empty() && !appraises {
        return Err(tools::failed(
            format!("no rule in {files} appraises files, so IMA denies nothing"),
            "use `measured` and `not_measured` to check what IMA measures",
        ));
    }
    if !of.measured.is_empty() && !measures {
        return Err(tools::failed(
            format!("no rule in {files} measures files"),
            "use `denied` and `allowed` to check what IMA appraises",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Result<Vec<String>, (String, String)> {
        let mut rules = Vec::new();
        let file = GivenFile {
            name: "ima-policy".into(),
            bytes: bytes.to_vec(),
        };
        super::read(&file, &mut rules)?;
        Ok(rules)
    }

    #[test]
    fn rules_are_lines_without_comments() {
        let text = b"# proc\ndont_measure fsmagic=0x9fa0\n\n \tmeasure func=BPRM_CHECK \n";
        assert_eq!(
            read(text).unwrap(),
            ["dont_measure fsmagic=0x9fa0", "measure func=BPRM_CHECK"]
        );
        for (text, why, hint) in [
            (
                "measure\nmesure func=BPRM_CHECK\n",
                "line 2: `mesure func",
                "measure?",
            ),
            ("measure \x07\n", "control character", "one rule per line"),
            (
                &format!("measure {}\n", "x".repeat(5_000)),
                "longer than 4095 bytes",
                "",
            ),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert!(error.0.contains(why) && error.1.contains(hint), "{error:?}");
        }
        assert!(read(&[0xff]).is_err());
    }

    #[test]
    fn what_cannot_be_seen_proves_nothing() {
        let of = |key: &str| {
            let access = vec!["read /x".parse().unwrap()];
            let mut of = CustomPolicy::default();
            match key {
                "denied" => of.denied = access,
                _ => of.measured = access,
            }
            of
        };
        assert!(check_proofs(&of("denied"), false, true).is_err());
        assert!(check_proofs(&of("denied"), true, false).is_ok());
        assert!(check_proofs(&of("measured"), true, false).is_err());
        assert!(check_proofs(&of("measured"), false, true).is_ok());
    }

    proptest! {
        #[test]
        fn rules_fit_on_lines_of_the_guest(
            text in "((measure|hash|#|) ?[ -~\t]{0,30}\n){0,8}",
        ) {
            for rule in read(text.as_bytes()).unwrap_or_default() {
                prop_assert!(!rule.contains('\n') && rule.len() <= RULE_LIMIT);
                prop_assert!(text.contains(&rule));
            }
        }
    }
}
