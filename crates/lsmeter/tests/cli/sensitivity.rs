// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter sensitivity` that does not get as far as to boot.

use crate::common::Place;

#[test]
fn help() {
    let place = Place::new();
    let asked = ["help", "sensitivity"];
    insta::assert_snapshot!("help", place.run(&asked).code(0).stdout);
    let asked = ["sensitivity", "-h"];
    insta::assert_snapshot!("help-short", place.run(&asked).code(0).stdout);
}

#[test]
fn delays_that_cannot_be_swept_are_refused_with_the_reason() {
    let place = Place::new();
    let refused = |delays: &str, error: &str| {
        let asked = ["sensitivity", "--delays", delays];
        let hint = if error.contains("hangs") {
            "the paper's are 0..110us/10us"
        } else {
            "write a range as 0..110us/10us"
        };
        place.run(&asked).refused(2, error, Some(hint));
    };
    refused("0..5ms/1ms", "would look like a machine that hangs");
    refused("0..110us", "does not say in which steps");
    refused("110us..0/10us", "leads nowhere");
    refused("0,10us,20us", "do not tell a line from a curve");
    refused("soon", "`soon` is no delay");
    refused("0..900us/1", "more than 256 delays");
}

#[test]
fn words_that_make_no_sense_are_wrong_usage() {
    let place = Place::new();
    let refused = |asked: &[&str], error: &str, hint: &str| {
        let asked = [&["sensitivity"], asked].concat();
        place.run(&asked).refused(2, error, Some(hint));
    };
    refused(
        &["--stack", "default"],
        "cannot be added to the stack default",
        "name the modules",
    );
    refused(
        &["--hooks", "all,inode_permission"],
        "all hooks, and some of them",
        "name hooks, or all",
    );
    refused(
        &["--predict", "2e9"],
        "a decision does not take 2e9 instructions",
        "a number from 0",
    );
    refused(
        &["--cold", "--fs", "tmpfs"],
        "tmpfs is never cold",
        "leave out --fs",
    );
    refused(
        &["--json", "--svg", "-"],
        "two outputs cannot both be standard output",
        "name a file for one",
    );
    refused(&["--bench", "opne"], "opne", "open");
    assert_eq!(place.names(), Vec::<String>::new(), "nothing was written");
}
