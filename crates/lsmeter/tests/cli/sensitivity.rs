// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter sensitivity` without a boot.

use crate::common::Place;

#[test]
fn invalid_arguments_are_refused() {
    let place = Place::new();
    let range = "write a range as 0..110us/10us";
    let table = format!(
        "sensitivity --delays 0..5ms/1ms | the machine would seem to hang | 0..110us/10us
         sensitivity --delays 0..110us | has no step | {range}
         sensitivity --delays 110us..0/10us | is empty | {range}
         sensitivity --delays 0,10us,20us | cannot show whether cost is linear | {range}
         sensitivity --delays soon | invalid delay `soon` | {range}
         sensitivity --delays 0..900us/1 | too many delays: at most 256 | {range}
         sensitivity --stack default | cannot be added to the stack default | name the modules
         sensitivity --hooks all,inode_permission | contains both `all` and hook names | --hooks all
         sensitivity --predict 2e9 | --predict 2e9 is out of range | 0 to 1e9 instructions
         sensitivity --cold --fs tmpfs | --cold does not work with tmpfs | leave out --fs
         sensitivity --json -o - | cannot both go to standard output | name a file for one
         sensitivity --bench opne | opne | open"
    );
    place.refuses(2, &table);
    assert_eq!(place.names(), [""; 0], "nothing was written");
}
