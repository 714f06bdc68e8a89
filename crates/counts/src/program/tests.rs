// SPDX-License-Identifier: GPL-2.0-or-later

use kernels::hooks::HookList;

use super::*;

const FUNCTIONS: [&str; 6] = [
    "__x64_sys_close",
    "__do_softirq",
    "rcu_core_si",
    "net_rx_action",
    "security_cred_free",
    "security_socket_sock_rcv_skb",
];

/// `(parent, function, calls, instructions)` below a close; node 0 is the root, node 1 the task,
/// and node 2 the close.
fn read(nodes: &[(u32, &str, u64, u64)]) -> ProgramCost {
    let map: String = FUNCTIONS
        .iter()
        .enumerate()
        .map(|(at, name)| format!("{:x} T {name}\n", 0xffff_ffff_8100_0000u64 + 64 * at as u64))
        .chain(["ffffffff82000000 T _end\n".to_owned()])
        .collect();
    let symbols = SymbolTable::from_map(kernels::arch::native(), &map).unwrap();
    let functions = FunctionTable::new(&symbols, &[]);
    let number = |name: &str| {
        let mut numbers = (0..).map_while(|at| Some((at, functions.name(at)?)));
        numbers.find(|(_, function)| *function == name).unwrap().0
    };
    let hooks = "LSM_HOOK(void, 0, cred_free, void)\nLSM_HOOK(int, 0, socket_sock_rcv_skb, void)\n";
    let framework = Framework::new(&HookList::from_definitions(hooks).unwrap(), &symbols);
    let call = |parent, what, calls, instructions| Call {
        what,
        parent,
        calls,
        instructions,
    };
    let mut calls = vec![
        call(0, What::Unknown, 0, 0),
        call(0, What::Task(1), 0, 1000),
        call(1, What::SystemCall(number("__x64_sys_close")), 1, 50),
    ];
    calls.extend(nodes.iter().map(|(parent, name, times, instructions)| {
        call(*parent, What::Function(number(name)), *times, *instructions)
    }));
    let reader = ProgramReader {
        functions: &functions,
        symbols: &symbols,
        framework: &framework,
        active_lsms: &[],
        keep_trees: false,
    };
    let program = ProgramCalls {
        calls,
        complete: true,
        ..ProgramCalls::default()
    };
    reader.read(&program).unwrap()
}

#[test]
fn callbacks_are_nobodys_system_call() {
    let cost = read(&[
        (2, "__do_softirq", 1, 30),
        (3, "rcu_core_si", 1, 20),
        (4, "security_cred_free", 2, 14),
    ]);
    assert_eq!(cost.interrupts, 34);
    assert_eq!(cost.kernel(), 80);
    assert_eq!(cost.all(), 1114);
    assert!(cost.hooks.is_empty(), "{:?}", cost.hooks);
}

#[test]
fn what_was_sent_is_taken_in_by_its_sender() {
    let cost = read(&[
        (2, "__do_softirq", 1, 30),
        (3, "net_rx_action", 1, 20),
        (4, "security_socket_sock_rcv_skb", 2, 14),
        (2, "rcu_core_si", 1, 5),
    ]);
    assert_eq!(cost.interrupts, 0);
    assert_eq!(cost.hooks.len(), 1);
    assert_eq!(cost.hooks[0].outermost, 14);
    let close = &cost.entries[0].asked;
    assert_eq!(close.calls, 1);
    assert_eq!(close.functions["net_rx_action"], (1, 20));
    assert!(!close.functions.contains_key("security_socket_sock_rcv_skb"));
}
