// SPDX-License-Identifier: GPL-2.0-or-later

use lab::LabError;
use model::{DelayModule, Failure};

pub(crate) fn no_module(kernel: &str, module: DelayModule, why: &str) -> LabError {
    Failure::environment(
        format!("the module {module} cannot delay the hooks of {kernel}: {why}"),
        match module {
            DelayModule::Tunable => {
                "build a kernel with `lsmeter kernel build NAME --source linux-source-6.12`, or \
                 delay a stock kernel's hooks with --module bpf"
            }
            DelayModule::Bpf => {
                "use a kernel from 5.17 on with CONFIG_BPF_LSM=y and CONFIG_DEBUG_INFO_BTF=y, \
                 such as debian:6.12, or build a kernel and use --module tunable"
            }
        },
    )
    .into()
}
