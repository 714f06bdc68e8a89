// SPDX-License-Identifier: GPL-2.0-or-later

use super::make::output;
use crate::arch::Arch;
use std::fmt;
use std::process::Command;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compiler {
    #[default]
    Gcc,
    /// Clang and LLVM's tools, either a version with Debian's names (`clang-19`), or plain `clang`.
    Clang(Option<u16>),
}

impl Compiler {
    pub(super) fn arguments(self, cross: Option<&Arch>, has_ccache: bool) -> Vec<String> {
        let ccache = if has_ccache { "ccache " } else { "" };
        match self {
            Compiler::Gcc => {
                let prefix = cross.map(Arch::tool_prefix).unwrap_or_default();
                vec![
                    format!("CC={ccache}{prefix}gcc"),
                    format!("CROSS_COMPILE={prefix}"),
                ]
            }
            // The build's programs run on this machine and are not measured; gcc has their headers.
            Compiler::Clang(version) => vec![
                format!("LLVM={}", version.map_or("1".into(), |n| format!("-{n}"))),
                format!("CC={ccache}{self}"),
                "HOSTCC=gcc".into(),
                "HOSTCXX=g++".into(),
                "HOSTLD=ld".into(),
                "HOSTAR=ar".into(),
                "CROSS_COMPILE=".into(),
            ],
        }
    }

    pub(super) fn needs(self, cross: Option<&Arch>) -> Vec<(String, String)> {
        match self {
            Compiler::Gcc => {
                let tools = [("gcc", "gcc"), ("ld", "binutils")];
                let cross = cross.into_iter();
                cross
                    .flat_map(|arch| {
                        tools.map(|(tool, package)| {
                            (arch.tool_prefix() + tool, arch.tool_package(package))
                        })
                    })
                    .collect()
            }
            Compiler::Clang(version) => {
                let version = version.map(|n| format!("-{n}")).unwrap_or_default();
                let tools = [
                    ("clang", "clang"),
                    ("ld.lld", "lld"),
                    ("llvm-ar", "llvm"),
                    ("llvm-objcopy", "llvm"),
                ];
                tools
                    .map(|(tool, package)| {
                        (format!("{tool}{version}"), format!("{package}{version}"))
                    })
                    .into()
            }
        }
    }

    /// Part of the key, because another compiler makes another kernel.
    pub(super) fn versions(self, cross: Option<&Arch>) -> String {
        let always = ["gcc", "ld", "pahole"].map(String::from).into_iter();
        let needs = self.needs(cross);
        let own = needs.into_iter().map(|(program, _)| program);
        let own = own.filter(|program| !program.starts_with("llvm-"));
        always.chain(own).map(|program| version(&program)).collect()
    }
}

fn version(program: &str) -> String {
    let text = output(Command::new(program).arg("--version").env("LC_ALL", "C"));
    let text = text.unwrap_or_default();
    format!("{program}: {}\n", text.lines().next().unwrap_or("none"))
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Compiler::Gcc => f.write_str("gcc"),
            Compiler::Clang(None) => f.write_str("clang"),
            Compiler::Clang(Some(version)) => write!(f, "clang-{version}"),
        }
    }
}

impl FromStr for Compiler {
    type Err = String;

    fn from_str(text: &str) -> Result<Compiler, String> {
        let version = match text {
            "gcc" => return Ok(Compiler::Gcc),
            "clang" => return Ok(Compiler::Clang(None)),
            other => other.strip_prefix("clang-"),
        };
        version
            .filter(|version| version.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|version| version.parse().ok())
            .map(|version| Compiler::Clang(Some(version)))
            .ok_or_else(|| "expected `gcc`, `clang` or `clang-VERSION`".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in ["gcc", "clang", "clang-19"] {
            assert_eq!(text.parse::<Compiler>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "cc",
            "clang-",
            "clang-+1",
            "clang-19 -O0",
            "clang-99999",
        ] {
            assert!(text.parse::<Compiler>().is_err(), "{text}");
        }
    }

    #[test]
    fn clang_compiles_for_every_architecture_with_its_own_tools() {
        let other = crate::arch::ALL.iter().find(|arch| !arch.is_native());
        let clang = Compiler::Clang(Some(19));
        for cross in [None, other.copied()] {
            let arguments = clang.arguments(cross, true);
            assert_eq!(arguments[..2], ["LLVM=-19", "CC=ccache clang-19"]);
            assert!(arguments.contains(&"CROSS_COMPILE=".to_owned()));
            let needs = clang.needs(cross);
            assert!(needs.contains(&("ld.lld-19".into(), "lld-19".into())));
        }
        assert_eq!(Compiler::Clang(None).arguments(None, false)[0], "LLVM=1");
        let gcc = Compiler::Gcc.arguments(None, false);
        assert_eq!(gcc, ["CC=gcc", "CROSS_COMPILE="]);
    }
}
