// SPDX-License-Identifier: GPL-2.0-or-later
//! Random keys and figures.

use crossterm::event::KeyCode;
use model::{Bucket, MonitorMode, Percentiles};
use proptest::prelude::*;

use super::{frame, monitoring, reading};
use crate::live::view::Reading;
use crate::live::view::keys::press;
use crate::live::view::state::View;

#[test]
fn hostile_names_do_no_harm() {
    let mut hostile = monitoring(MonitorMode::Histogram);
    hostile.release = "6.12\u{1b}]0;owned\u{7}".to_owned();
    hostile.scope = "command: a\nb\u{202e}c".to_owned();
    hostile.active_lsms = vec!["\u{9b}31m".to_owned(), "x".repeat(1_000)];
    let mut bad = reading(MonitorMode::Histogram, 1);
    for interval in [&mut bad.total, &mut bad.since_last] {
        let hook = &mut interval.hooks[1];
        hook.hook = "inode\u{1b}[2J\u{1b}[H".to_owned();
        hook.function = "y".repeat(10_000);
        hook.module = None;
        hook.errnos.insert("E\u{1b}[31m".to_owned(), u64::MAX);
        hook.errnos.insert("E\u{7}[31m".to_owned(), 1);
        hook.system_calls[0].system_call = "open\r\nat".to_owned();
        hook.calls.sum_ns = Some(i64::MAX);
        hook.histogram[0].from_ns = u64::MAX;
        hook.histogram[1].count = u64::MAX;
        interval.seconds = 1e-300;
    }
    let mut view = View::new(&hostile, false);
    view.update(bad);
    let table = frame(&mut view, 100, 12);
    insta::assert_snapshot!("hostile", table);
    press(&mut view, KeyCode::Enter.into());
    let detail = frame(&mut view, 100, 30);
    insta::assert_snapshot!("hostile-detail", detail);
    for text in [table, detail] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
    }
}

/// A reading with names and figures of some of its hooks replaced.
fn any_reading() -> impl Strategy<Value = Reading> {
    let hook = (0usize..6, ".{0,9}|[ab]", any::<u64>(), any::<[u64; 3]>());
    let hooks = prop::collection::vec(hook, 0..6);
    let seconds = prop_oneof![0.0..5.0, any::<f64>()];
    let mode = prop::sample::select(MonitorMode::ALL);
    (mode, any::<bool>(), seconds, hooks).prop_map(|(mode, fewer, seconds, hooks)| {
        let mut reading = reading(mode, 3);
        for (at, name, count, [sum, low, high]) in hooks {
            let hook = &mut reading.total.hooks[at];
            (hook.hook, hook.module) = (name.clone(), Some(name.clone()));
            hook.errnos.insert(name.clone(), count);
            hook.calls.count = count;
            hook.calls.sum_ns = hook.calls.sum_ns.map(|_| sum.cast_signed());
            (hook.calls.min_ns, hook.calls.max_ns) = (Some(low), Some(high));
            hook.calls.percentiles_ns = Some(Percentiles {
                p50: low as f64,
                p90: f64::INFINITY,
                p99: f64::NAN,
            });
            hook.histogram.push(Bucket {
                from_ns: low,
                to_ns: Some(high).filter(|high| *high > 9),
                count,
            });
            hook.system_calls[0].system_call = name;
            hook.system_calls[0].calls = hook.calls.clone();
        }
        reading.since_last = reading.total.clone();
        reading.since_last.seconds = seconds;
        if fewer {
            reading.since_last.hooks.truncate(2);
        }
        reading
    })
}

#[derive(Debug, Clone)]
enum Event {
    Key(KeyCode),
    Reading(Box<Reading>),
    Size(u16, u16),
    End,
}

fn any_event() -> impl Strategy<Value = Event> {
    use KeyCode::{Backspace, Down, End, Enter, Esc, F, Home, Left, PageDown, PageUp, Right, Up};
    let moves = [
        Up, Down, PageUp, PageDown, Home, End, Left, Right, Enter, Esc,
    ];
    let moves = [&moves[..], &[Backspace, F(1)]].concat();
    let reading = any_reading().prop_map(|reading| Event::Reading(Box::new(reading)));
    prop_oneof![
        8 => prop::sample::select(moves).prop_map(Event::Key),
        8 => prop::sample::select("rjk<>/*?abpm h".chars().collect::<Vec<_>>())
            .prop_map(|c| Event::Key(KeyCode::Char(c))),
        1 => any::<char>().prop_map(|c| Event::Key(KeyCode::Char(c))),
        3 => reading,
        3 => (0u16..130, 0u16..40).prop_map(|(width, height)| Event::Size(width, height)),
        1 => Just(Event::End),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_breaks_it(
        mode in prop::sample::select(MonitorMode::ALL),
        events in prop::collection::vec(any_event(), 1..50),
    ) {
        let mut view = View::new(&monitoring(mode), true);
        let mut size = (80, 24);
        for event in events {
            // A slow terminal: several keys between frames.
            let drawn = !matches!(event, Event::Key(_));
            match event {
                Event::Key(code) => {
                    press(&mut view, code.into());
                }
                Event::Reading(reading) => view.update(*reading),
                Event::Size(width, height) => size = (width, height),
                Event::End => view.ended = true,
            }
            prop_assert!(view.selected() < view.len().max(1));
            prop_assert!((view.len() == 0) == view.selected_figure().is_none());
            if drawn {
                let text = frame(&mut view, size.0, size.1);
                prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
            }
        }
    }
}
