// SPDX-License-Identifier: GPL-2.0-or-later
//! What a miss of the access vector cache costs, of the document of `docs/results`.

use std::path::Path;

use model::Document;
use report::{Options, markdown, report};

fn document() -> Document {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let packed = std::fs::read(results.join("avc.json.xz")).unwrap();
    Document::parse(&testing::unpack(&packed)).unwrap()
}

fn misses(run: &Document) -> Option<String> {
    let all = markdown(&report(run, &Options::default()));
    let (_, table) = all.split_once("**What a miss of SELinux")?;
    Some(table.to_owned())
}

#[test]
fn a_miss_is_what_a_small_cache_costs_more_than_one_that_all_fits_into() {
    let mut run = document();
    let table = misses(&run).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| capability"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), 10);
    let of = |title: &str| {
        let title = format!("capability,selinux (enforcing, {title})");
        let row = rows.iter().find(|row| row[1] == title);
        row.unwrap_or_else(|| panic!("{title}: {table}")).clone()
    };
    let number = |text: &str| text.replace(',', "").parse::<f64>().unwrap();
    let fits = of("256 labels");
    // Where nothing is missed, nothing is said of a miss.
    assert_eq!(fits[4..5], ["0"]);
    assert_eq!(fits[8..10], ["", ""]);
    let small = of("16 avc entries, 256 labels");
    assert_eq!(number(small[8]), number(small[5]) - number(fits[5]));
    let per_open = number(small[4]) / number(small[2]);
    let on_average = (number(small[6]) - number(fits[6])) / per_open;
    assert!((number(small[9]) - on_average).abs() < 2.0, "{table}");
    // The reference policy has more to look up.
    let reference = of("16 avc entries, reference policy, 256 labels");
    assert!(number(reference[8]) > 2.0 * number(small[8]));
    // Without the kernel's count there is no table.
    for setup in &mut run.setups {
        setup.cache = None;
    }
    assert_eq!(misses(&run), None);
}
