// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter sensitivity` that does not get as far as to boot.

use crate::common::Place;

#[test]
fn words_that_make_no_sense_are_wrong_usage() {
    let place = Place::new();
    let range = "write a range as 0..110us/10us";
    let table = format!(
        "sensitivity --delays 0..5ms/1ms | would look like a machine that hangs | 0..110us/10us
         sensitivity --delays 0..110us | does not say in which steps | {range}
         sensitivity --delays 110us..0/10us | leads nowhere | {range}
         sensitivity --delays 0,10us,20us | do not tell a line from a curve | {range}
         sensitivity --delays soon | `soon` is no delay | {range}
         sensitivity --delays 0..900us/1 | more than 256 delays | {range}
         sensitivity --stack default | cannot be added to the stack default | name the modules
         sensitivity --hooks all,inode_permission | all hooks, and some of them | name hooks, or all
         sensitivity --predict 2e9 | a decision does not take 2e9 instructions | a number from 0
         sensitivity --cold --fs tmpfs | tmpfs is never cold | leave out --fs
         sensitivity --json -o - | cannot both be standard output | name a file for one
         sensitivity --bench opne | opne | open"
    );
    place.refuses(2, &table);
    assert_eq!(place.names(), [""; 0], "nothing was written");
}
