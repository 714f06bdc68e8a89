// SPDX-License-Identifier: GPL-2.0-or-later
//! A new result file needs only a list of columns: every format is made from it.

use report::{Align, Columns, Datum, Kind, Layout, Records, Report, csv, markdown, terminal};

/// Results of a possible new method.
struct Found {
    socket: &'static str,
    packets: u64,
    ns: Option<f64>,
    denied: bool,
}

const FOUND: [Found; 2] = [
    Found {
        socket: "=tcp\u{1b}[31m",
        packets: 12_000,
        ns: Some(1.25),
        denied: false,
    },
    Found {
        socket: "udp|unix",
        packets: 7,
        ns: None,
        denied: true,
    },
];

fn columns() -> Columns<'static, &'static Found> {
    Columns::new()
        .column("socket", |found: &Found| found.socket)
        .column("packets", |found| found.packets)
        .column("mean_ns", |found| found.ns)
        .column("denied", |found| found.denied)
}

fn records() -> Records<'static> {
    columns().records(&FOUND)
}

fn report() -> Report {
    Report {
        tables: vec![columns().table("Packets", &FOUND)],
        warnings: Vec::new(),
    }
}

#[test]
fn programs_get_what_values_are() {
    let mut bytes = Vec::new();
    csv(records(), &mut bytes).unwrap();
    insta::assert_snapshot!(String::from_utf8(bytes).unwrap(), @r"
    socket,packets,mean_ns,denied
    '=tcp?[31m,12000,1.25,false
    udp|unix,7,,true
    ");
    let kinds: Vec<Kind> = records()
        .headings
        .iter()
        .map(|heading| heading.kind)
        .collect();
    let expected = [Kind::Text, Kind::Integer, Kind::Float, Kind::Flag];
    assert_eq!(kinds, expected);
    let second = records().rows.nth(1).unwrap();
    assert_eq!(second[2].datum, Datum::Missing);
}

#[test]
fn readers_get_tables() {
    insta::assert_snapshot!(terminal(&report(), &Layout::default()), @r"
    Packets

    socket     packets  mean_ns  denied
    -----------------------------------
    =tcp?[31m   12,000     1.25  no
    udp|unix         7           yes
    ");
    let text = markdown(&report());
    assert!(text.contains("| udp\\|unix | 7 |  | yes |"), "{text}");
    let aligned: Vec<Align> = report().tables[0]
        .columns
        .iter()
        .map(|column| column.align)
        .collect();
    assert_eq!(
        aligned,
        [Align::Left, Align::Right, Align::Right, Align::Left]
    );
}
