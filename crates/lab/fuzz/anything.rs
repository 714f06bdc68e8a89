// SPDX-License-Identifier: GPL-2.0-or-later
// A custom policy with arbitrary files, for the fuzzer and for the test of its corpus. The first
// byte selects the module.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kernels::Kernel;
use lab::policy::{PolicyError, PolicySetup, Request, prepare};
use model::{Configuration, CustomPolicy, Integrity, Policy};

/// Modules whose files lsmeter reads itself; AppArmor's tools and libbpf read the others.
const MODULES: [&str; 5] = ["landlock", "smack", "ima", "tomoyo", "selinux"];
/// Start of a binary SELinux policy: other files go to its compiler.
const SELINUX: &[u8] = b"\x8c\xff\x7c\xf9\x08\0\0\0SE Linux";

/// Makes the guest's files in `dir`.
pub fn prepared(dir: &Path, data: &[u8]) -> Result<PolicySetup, PolicyError> {
    let (&which, bytes) = data.split_first().unwrap_or((&0, &[]));
    let module = MODULES[usize::from(which) % MODULES.len()];
    let name = match module {
        "tomoyo" => "domain_policy.conf",
        _ => "anything",
    };
    let file = dir.join(name);
    let head = if module == "selinux" { SELINUX } else { &[] };
    std::fs::write(&file, [head, bytes].concat()).expect("the directory can be written");
    let access = |text: &str| vec![text.parse().expect("an access")];
    let policy = CustomPolicy {
        module: module.to_owned(),
        files: vec![file.display().to_string()],
        context: (module == "selinux").then(|| "user_u:user_r:user_t:s0".to_owned()),
        files_context: (module == "selinux").then(|| "user_u:object_r:user_home_t:s0".to_owned()),
        label: (module == "smack").then(|| "User".to_owned()),
        domain: (module == "tomoyo").then(|| "<kernel> /usr/sbin/server".to_owned()),
        denied: access("read /etc/shadow"),
        allowed: access("read /etc/hosts"),
        ..CustomPolicy::default()
    };
    let stack = if module == "ima" {
        "capability".to_owned()
    } else {
        format!("capability,{module}")
    };
    let mut configuration = Configuration::of_stack(stack.parse().expect("a stack"));
    if module == "ima" {
        configuration.integrity = vec![Integrity::Ima];
    } else {
        configuration.policy = Policy::Enforcing;
    }
    configuration
        .settings
        .custom
        .insert(module.to_owned(), "mine".to_owned());
    let custom = BTreeMap::from([("mine".to_owned(), policy)]);
    let kernel = Kernel {
        name: "build:any".to_owned(),
        release: "6.12.0".to_owned(),
        series: "6.12".to_owned(),
        architecture: Default::default(),
        image: PathBuf::new(),
        vmlinux: None,
        modules: None,
        config: None,
        digest: String::new(),
        verified: None,
        package_version: None,
        packages: Vec::new(),
        pvh_entry: None,
        is_program: false,
    };
    let setup = prepare(&Request {
        configuration: &configuration,
        work_dir: None,
        custom: &custom,
        root: None,
        kernel: Some(&kernel),
        cache: dir,
    });
    // Messages go to a terminal, whatever the file contains.
    if let Err(error) = &setup {
        let text = error.to_string();
        assert!(
            !text.is_empty() && !text.contains(|c: char| c.is_control() && c != '\n'),
            "{text:?}"
        );
    }
    setup
}
