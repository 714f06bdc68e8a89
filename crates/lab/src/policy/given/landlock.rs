// SPDX-License-Identifier: GPL-2.0-or-later
//! Landlock rulesets in the TOML of <https://github.com/landlock-lsm/landlockconfig>, a layer each.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::CustomPolicy;
use serde::Deserialize;

use super::super::{PolicyError, Prepared, tools};
use super::{GivenFile, files, prepared};

const NEWEST: u32 = 6;
/// Per layer; the kernel's own limit is 2^32 - 1 (security/landlock/limits.h).
const RULES_LIMIT: usize = 100_000;
/// LANDLOCK_MAX_NUM_LAYERS
const LAYERS_LIMIT: usize = 16;

/// File rights in bit order (include/uapi/linux/landlock.h), with the ABI that introduced each.
const OF_FILES: [(&str, u32); 16] = [
    ("execute", 1),
    ("write_file", 1),
    ("read_file", 1),
    ("read_dir", 1),
    ("remove_dir", 1),
    ("remove_file", 1),
    ("make_char", 1),
    ("make_dir", 1),
    ("make_reg", 1),
    ("make_sock", 1),
    ("make_fifo", 1),
    ("make_block", 1),
    ("make_sym", 1),
    ("refer", 2),
    ("truncate", 3),
    ("ioctl_dev", 5),
];
const OF_PORTS: [(&str, u32); 2] = [("bind_tcp", 4), ("connect_tcp", 4)];
const SCOPES: [(&str, u32); 2] = [("abstract_unix_socket", 6), ("signal", 6)];

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    abi: Option<u32>,
    variable: Vec<Variable>,
    ruleset: Vec<Handled>,
    path_beneath: Vec<PathBeneath>,
    net_port: Vec<NetPort>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variable {
    name: String,
    literal: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Handled {
    handled_access_fs: Vec<String>,
    handled_access_net: Vec<String>,
    scoped: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathBeneath {
    allowed_access: Vec<String>,
    parent: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NetPort {
    allowed_access: Vec<String>,
    port: Vec<u16>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Layer {
    of_files: u64,
    of_ports: u64,
    scopes: u64,
    paths: Vec<(u64, String)>,
    ports: Vec<(u64, u16)>,
}

pub(in super::super) fn prepare(of: &CustomPolicy) -> Result<Prepared, PolicyError> {
    let sources = files(of)?;
    if sources.len() > LAYERS_LIMIT {
        return Err(tools::failed(
            format!(
                "{} Landlock rulesets: the kernel allows at most {LAYERS_LIMIT} layers",
                sources.len()
            ),
            "name fewer rulesets",
        ));
    }
    let mut text = String::new();
    let mut rules = 0;
    for source in &sources {
        let layer = layer(source).map_err(source.refused(
            "write the ruleset in landlockconfig's TOML format: [[ruleset]] handled_access_fs, \
             [[path_beneath]] allowed_access and parent, [[net_port]] allowed_access and port",
        ))?;
        rules += layer.paths.len() + layer.ports.len();
        write_layer(&mut text, &layer);
    }
    let mut prepared = prepared(of);
    prepared.file("ruleset", text);
    prepared.steps.push(format!(
        "landlock: {} layers with {rules} rules, from {}",
        sources.len(),
        of.files.join(" ")
    ));
    Ok(prepared)
}

fn write_layer(text: &mut String, layer: &Layer) {
    let Layer {
        of_files,
        of_ports,
        scopes,
        ..
    } = layer;
    let _ = writeln!(text, "layer {of_files} {of_ports} {scopes}");
    for (rights, path) in &layer.paths {
        let _ = writeln!(text, "path {rights} {path}");
    }
    for (rights, port) in &layer.ports {
        let _ = writeln!(text, "port {rights} {port}");
    }
}

fn layer(source: &GivenFile) -> Result<Layer, String> {
    let text = std::str::from_utf8(&source.bytes).map_err(|_| "not a text file".to_owned())?;
    let written: Written = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| {
            let before = text.get(..span.start).unwrap_or(text);
            before.matches('\n').count() + 1
        });
        format!(
            "line {line}: {}",
            error.message().lines().collect::<Vec<_>>().join("; ")
        )
    })?;
    let abi = match written.abi {
        Some(abi) if (1..=NEWEST).contains(&abi) => abi,
        None => NEWEST,
        Some(abi) => return Err(format!("invalid `abi` {abi}: expected 1 to {NEWEST}")),
    };
    let mut layer = Layer::default();
    for handled in &written.ruleset {
        layer.of_files |= rights(&handled.handled_access_fs, &OF_FILES, abi)?;
        layer.of_ports |= rights(&handled.handled_access_net, &OF_PORTS, abi)?;
        layer.scopes |= rights(&handled.scoped, &SCOPES, abi)?;
    }
    let variables: BTreeMap<&str, &[String]> = written
        .variable
        .iter()
        .map(|variable| (variable.name.as_str(), variable.literal.as_slice()))
        .collect();
    for rule in &written.path_beneath {
        let rights = rights(&rule.allowed_access, &OF_FILES, abi)?;
        for parent in &rule.parent {
            for path in resolved(parent, &variables)? {
                layer.paths.push((rights, path));
            }
            if layer.paths.len() > RULES_LIMIT {
                return Err(format!("more than {RULES_LIMIT} rules"));
            }
        }
        layer.of_files |= rights;
    }
    for rule in &written.net_port {
        let rights = rights(&rule.allowed_access, &OF_PORTS, abi)?;
        layer
            .ports
            .extend(rule.port.iter().map(|port| (rights, *port)));
        layer.of_ports |= rights;
    }
    if layer.of_files | layer.of_ports | layer.scopes == 0 {
        return Err("it handles no access right, so it denies nothing".to_owned());
    }
    Ok(layer)
}

/// `words`: single rights, or groups such as `abi.all` and `v3.read_execute`.
fn rights(words: &[String], known: &[(&str, u32)], abi: u32) -> Result<u64, String> {
    let bit = |name: &str| known.iter().position(|(known, _)| *known == name);
    let mut all = 0;
    for word in words {
        if let Some(at) = bit(word) {
            all |= 1 << at;
            continue;
        }
        let group = word.split_once('.').and_then(|(of, group)| {
            let of = match of {
                "abi" => Some(abi),
                of => of.strip_prefix('v')?.parse().ok(),
            };
            Some((of.filter(|of| (1..=NEWEST).contains(of))?, group))
        });
        let of_abi = |of: u32| {
            let bits = known
                .iter()
                .enumerate()
                .filter(|(_, (_, since))| *since <= of);
            bits.fold(0, |all, (at, _)| all | 1 << at)
        };
        let only = |names: &[&str]| {
            let bits = names.iter().filter_map(|name| bit(name));
            bits.fold(0, |all, at| all | 1 << at)
        };
        all |= match group {
            Some((of, "all")) => of_abi(of),
            Some((of, "read_execute")) => {
                of_abi(of) & only(&["execute", "read_file", "read_dir", "refer"])
            }
            Some((of, "read_write")) => of_abi(of) & !only(&["execute"]),
            _ => {
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                let near = tools::suggestion(word, &names);
                return Err(format!(
                    "unknown access right `{}`: {near}",
                    model::excerpt(word)
                ));
            }
        };
    }
    Ok(all)
}

/// Expands the variables of a path; each may have several values.
fn resolved(template: &str, variables: &BTreeMap<&str, &[String]>) -> Result<Vec<String>, String> {
    let mut paths = vec![String::new()];
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        let (text, found) = rest.split_at(at);
        paths.iter_mut().for_each(|path| path.push_str(text));
        if let Some(after) = found.strip_prefix("$$") {
            paths.iter_mut().for_each(|path| path.push('$'));
            rest = after;
            continue;
        }
        let Some((name, after)) = found.strip_prefix("${").and_then(|of| of.split_once('}')) else {
            paths.iter_mut().for_each(|path| path.push('$'));
            rest = &found[1..];
            continue;
        };
        let Some(values) = variables.get(name) else {
            return Err(format!("unknown variable `{}`", model::excerpt(name)));
        };
        if paths.len().saturating_mul(values.len()) > RULES_LIMIT {
            return Err(format!("more than {RULES_LIMIT} rules"));
        }
        paths = paths
            .iter()
            .flat_map(|path| values.iter().map(move |value| format!("{path}{value}")))
            .collect();
        rest = after;
    }
    paths.iter_mut().for_each(|path| path.push_str(rest));
    for path in &paths {
        let odd = path.chars().any(char::is_control) || path.len() > 512;
        if odd || !(path.starts_with('/') || path == ".") {
            return Err(format!(
                "invalid path `{}`: expected an absolute path of at most 512 bytes, or `.` for the \
                 benchmarks' directory",
                model::excerpt(path)
            ));
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Result<Layer, String> {
        layer(&GivenFile {
            name: "x.toml".into(),
            bytes: text.as_bytes().to_vec(),
        })
    }

    #[test]
    fn rulesets_become_bits() {
        let text = r#"
            abi = 3
            [[variable]]
            name = "tmp"
            literal = ["/tmp", "/var/tmp"]
            [[ruleset]]
            handled_access_fs = ["abi.all"]
            handled_access_net = ["bind_tcp"]
            [[path_beneath]]
            allowed_access = ["abi.read_execute"]
            parent = ["/usr", "."]
            [[path_beneath]]
            allowed_access = ["v1.read_write"]
            parent = ["${tmp}/x"]
            [[net_port]]
            allowed_access = ["connect_tcp"]
            port = [443]
        "#;
        let layer = of(text).unwrap();
        assert_eq!(layer.of_files, (1 << 15) - 1);
        assert_eq!(layer.of_ports, 3, "what a rule allows is handled");
        assert_eq!(layer.paths[0], (0b10_0000_0000_1101, "/usr".to_owned()));
        assert_eq!(layer.paths[2], ((1 << 13) - 2, "/tmp/x".to_owned()));
        assert_eq!(layer.paths[3].1, "/var/tmp/x");
        let mut text = String::new();
        write_layer(&mut text, &layer);
        assert!(
            text.starts_with("layer 32767 3 0\npath 8205 /usr\n"),
            "{text}"
        );
        assert!(text.ends_with("port 2 443\n"), "{text}");
    }

    #[test]
    fn what_makes_no_ruleset_is_told_of() {
        for (text, why) in [
            ("", "handles no access right"),
            ("x = 1", "line 1"),
            ("abi = 9", "expected 1 to"),
            (
                "[[ruleset]]\nhandled_access_fs = ['read_fil']",
                "did you mean read_file?",
            ),
            (
                "[[path_beneath]]\nallowed_access = ['execute']\nparent = ['etc']",
                "invalid path",
            ),
            (
                "[[path_beneath]]\nallowed_access = ['execute']\nparent = ['${x}']",
                "unknown variable",
            ),
            (
                "[[net_port]]\nallowed_access = ['bind_tcp']\nport = [70000]",
                "line 3",
            ),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_template_is_resolved_or_refused(text in "[a/$\\{\\}]{0,40}") {
            let variables = BTreeMap::new();
            if let Ok(paths) = resolved(&text, &variables) {
                prop_assert_eq!(paths.len(), 1);
            }
        }
    }
}
