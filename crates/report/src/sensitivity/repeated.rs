// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks that operations repeat for the same object.

use std::cell::RefCell;
use std::cmp::Reverse;

use model::{RepeatedQuestion, SweepFindings, cell_title};

use crate::column::Columns;
use crate::group::grouped;
use crate::table::{Footnotes, Table, Value};
use crate::text::{printable, short};

const CHAINS_SHOWN: usize = 6;
/// Functions kept at the outer and the inner end of a long chain.
const OUTER: usize = 2;
const INNER: usize = 5;
const FUNCTION_LIMIT: usize = 40;

pub(super) fn tables(findings: &SweepFindings) -> Vec<Table> {
    grouped(&findings.repeated, |question| question.kernel.as_str())
        .into_iter()
        .map(|(kernel, questions)| table(kernel, &questions))
        .collect()
}

fn table(kernel: &str, questions: &[&RepeatedQuestion]) -> Table {
    let notes = RefCell::new(Footnotes::default());
    let title = format!(
        "{}: questions that an operation asks more than once of the same object",
        short(kernel)
    );
    let mut table = Columns::new()
        .left("operation", |question: &RepeatedQuestion| {
            cell_title(&question.benchmark, &question.variant)
        })
        .left("hook", |question| &question.hook)
        .left("object", |question| &question.object)
        .column("times", |question| question.times)
        .left("asked by", |question| {
            Value::plain(asked_by(question, &mut notes.borrow_mut()))
        })
        .table(title, questions.iter().copied())
        .legend([
            "object: inode:device:number:generation, with what else the question holds; asked by: \
             the call chains below the table, outermost function first, each as often as it asks.",
        ]);
    table.footnotes = notes.into_inner().texts;
    table
}

/// `2x [1], 1x [2]`: the chains, the most frequent first.
fn asked_by(question: &RepeatedQuestion, notes: &mut Footnotes) -> String {
    let mut chains: Vec<(&[String], usize)> =
        grouped(&question.chains, |chain: &Vec<String>| chain.as_slice())
            .into_iter()
            .map(|(chain, same)| (chain, same.len()))
            .collect();
    chains.sort_by_key(|(_, times)| Reverse(*times));
    let mut texts: Vec<String> = chains
        .iter()
        .take(CHAINS_SHOWN)
        .map(|(chain, times)| format!("{times}x {}", notes.mark(shortened(chain))))
        .collect();
    if chains.len() > CHAINS_SHOWN {
        texts.push(format!("{} other chains", chains.len() - CHAINS_SHOWN));
    }
    texts.join(", ")
}

/// `do_sys_openat2 > ... > may_lookup > security_inode_permission`.
fn shortened(chain: &[String]) -> String {
    let name = |function: &String| printable(function, FUNCTION_LIMIT);
    if chain.is_empty() {
        return "a chain that is not known".to_owned();
    }
    if chain.len() <= OUTER + INNER + 1 {
        return chain.iter().map(name).collect::<Vec<_>>().join(" > ");
    }
    let mut names: Vec<String> = chain[..OUTER].iter().map(name).collect();
    names.push("...".to_owned());
    names.extend(chain[chain.len() - INNER..].iter().map(name));
    names.join(" > ")
}
