// SPDX-License-Identifier: GPL-2.0-or-later
//! An ordered list of LSMs.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;

use crate::hint::excerpt;

/// Kernels have far fewer modules.
const MODULES_LIMIT: usize = 32;
/// In bytes; a kernel command line has 2,048.
const BYTES_LIMIT: usize = 512;

/// A stack as in the kernel's `lsm=` parameter: `capability,selinux`. Order matters. `default`
/// alone is the distribution's list, without an `lsm=` parameter. `none` is a kernel without LSMs,
/// with discretionary access control only.
///
/// Only the syntax is checked (`[a-z0-9_]+`, separated by commas, each name once), not whether a
/// kernel has these modules.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema)]
#[schemars(with = "String")]
pub struct Stack(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("stack `{stack}`: {why}")]
pub struct StackError {
    stack: String,
    why: String,
}

impl StackError {
    pub fn hint(&self) -> &'static str {
        "use the syntax of the kernel's lsm= parameter: capability,selinux; default: the \
         distribution's own list; none: a kernel without LSMs"
    }
}

impl Stack {
    pub fn distribution() -> Stack {
        Stack("default".to_owned())
    }

    pub fn is_default(&self) -> bool {
        self.0 == "default"
    }

    /// No LSMs at all: a kernel with `CONFIG_SECURITY=n`.
    pub fn is_none(&self) -> bool {
        self.0 == "none"
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Value of the kernel's `lsm=` parameter; None for the distribution's list, and without LSMs.
    pub fn lsm_parameter(&self) -> Option<&str> {
        (!self.is_default() && !self.is_none()).then_some(self.as_str())
    }

    /// Whether it has the module. The modules of a kernel's default stack are not known here.
    pub(crate) fn may_have(&self, module: &str) -> bool {
        self.is_default() || self.0.split(',').any(|name| name == module)
    }

    /// Names in order, as a cell's `stack`; `["default"]` for the distribution's list.
    pub fn names(&self) -> Vec<String> {
        self.0.split(',').map(str::to_owned).collect()
    }
}

impl FromStr for Stack {
    type Err = StackError;

    fn from_str(text: &str) -> Result<Stack, StackError> {
        let refuse = |why: String| {
            Err(StackError {
                stack: excerpt(text),
                why,
            })
        };
        if text.len() > BYTES_LIMIT {
            return refuse(format!("longer than {BYTES_LIMIT} bytes"));
        }
        let names: Vec<&str> = text.split(',').collect();
        if names.len() > MODULES_LIMIT {
            return refuse(format!("more than {MODULES_LIMIT} modules"));
        }
        for (index, name) in names.iter().enumerate() {
            if name.is_empty() {
                return refuse(format!("no module name at position {}", index + 1));
            }
            if let Some(bad) = name
                .chars()
                .find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '_'))
            {
                return refuse(format!(
                    "a module name contains {bad:?}; use a to z, 0 to 9 and _"
                ));
            }
            if names[..index].contains(name) {
                return refuse(format!("names `{name}` twice"));
            }
        }
        if let Some(alone) = ["default", "none"].iter().find(|a| names.contains(a))
            && names.len() > 1
        {
            return refuse(format!("`{alone}` cannot be combined with modules"));
        }
        Ok(Stack(text.to_owned()))
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn accepted() {
        let stack: Stack = "capability,selinux".parse().unwrap();
        assert_eq!(stack.names(), ["capability", "selinux"]);
        assert_eq!(stack.lsm_parameter(), Some("capability,selinux"));
        let default: Stack = "default".parse().unwrap();
        assert_eq!(default, Stack::distribution());
        assert_eq!(default.lsm_parameter(), None);
    }

    #[test]
    fn refused() {
        for (text, why) in [
            ("", "no module name at position 1"),
            ("capability,", "no module name at position 2"),
            ("capability, selinux", "a module name contains ' '"),
            ("SELinux", "a module name contains 'S'"),
            ("selinux,selinux", "names `selinux` twice"),
            (
                "default,selinux",
                "`default` cannot be combined with modules",
            ),
            ("capability,none", "`none` cannot be combined with modules"),
            ("a\u{1b}[31m", "a module name contains '\\u{1b}'"),
        ] {
            let error = text.parse::<Stack>().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert!(!error.contains('\u{1b}'));
        }
        assert!("a,".repeat(400).parse::<Stack>().is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "[a-c,_ ]{0,20}|\\PC{0,40}") {
            if let Ok(stack) = text.parse::<Stack>() {
                prop_assert_eq!(stack.names().join(","), text);
            }
        }
    }
}
