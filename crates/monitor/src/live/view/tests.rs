// SPDX-License-Identifier: GPL-2.0-or-later
//! Frames on a test terminal.

mod hostile;
mod panic;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use model::{
    Bucket, Calls, Interval, MonitorCost, MonitorMode, Monitoring, Percentiles, WatchedHook,
    WatchedSystemCall,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use super::Reading;
use super::column::Column;
use super::draw::draw;
use super::keys::press;
use super::state::{Page, View};

fn monitoring(mode: MonitorMode) -> Monitoring {
    Monitoring {
        release: "6.12.57+deb13-amd64".to_owned(),
        active_lsms: ["lockdown", "capability", "apparmor"]
            .map(str::to_owned)
            .to_vec(),
        scope: "machine".to_owned(),
        mode,
        cost: MonitorCost {
            added_ns: 210,
            within_ns: 95,
            rounds: 11,
        },
        memory_bytes: 1 << 20,
    }
}

fn calls(mode: MonitorMode, count: u64, errors: u64, mean_ns: u64) -> Calls {
    let timed = mode != MonitorMode::Count;
    let with_histogram = mode == MonitorMode::Histogram;
    Calls {
        count,
        errors,
        sum_ns: timed.then(|| (count * mean_ns) as i64),
        min_ns: timed.then_some(mean_ns / 2),
        max_ns: timed.then_some(mean_ns * 40),
        percentiles_ns: with_histogram.then_some(Percentiles {
            p50: mean_ns as f64 * 0.9,
            p90: mean_ns as f64 * 2.0,
            p99: mean_ns as f64 * 12.0,
        }),
    }
}

fn hook(mode: MonitorMode, name: &str, count: u64, denied: u64, mean_ns: u64) -> WatchedHook {
    let other = count / 4;
    let in_call = |name: &str, count, errors| WatchedSystemCall {
        system_call: name.to_owned(),
        calls: calls(mode, count, errors, mean_ns),
    };
    let bucket = |from_ns: u64, count| Bucket {
        from_ns,
        to_ns: Some(from_ns * 2),
        count,
    };
    let timed = mode != MonitorMode::Count;
    let errnos = [("EACCES", denied), ("EOPNOTSUPP", denied * 2)];
    WatchedHook {
        hook: name.to_owned(),
        function: format!("security_{name}"),
        module: None,
        calls: calls(mode, count, denied * 3, mean_ns),
        errnos: errnos
            .into_iter()
            .filter(|(_, count)| timed && *count > 0)
            .map(|(name, count)| (name.to_owned(), count))
            .collect(),
        histogram: match mode {
            MonitorMode::Histogram => vec![
                bucket(256, other),
                bucket(512, count - other - 1),
                bucket(4_096, 1),
            ],
            _ => Vec::new(),
        },
        system_calls: vec![
            in_call("newfstatat", other, 0),
            in_call("openat", count - other, denied * 3),
        ],
    }
}

fn interval(mode: MonitorMode, begin_s: f64, seconds: f64, times: u64) -> Interval {
    let mut of_module = hook(mode, "inode_permission", 1_900 * times, times, 210);
    of_module.function = "apparmor_inode_permission".to_owned();
    of_module.module = Some("apparmor".to_owned());
    Interval {
        begin_s,
        seconds,
        hooks: vec![
            hook(mode, "file_open", 420 * times, 0, 1_240),
            hook(mode, "inode_permission", 1_900 * times, times, 412),
            of_module,
            hook(mode, "inode_getattr", 1_100 * times, 0, 95),
            hook(mode, "bprm_check_security", 3 * times, 0, 83_000),
            hook(mode, "inode_getsecurity", 12 * times, 4 * times, 300),
        ],
        lost: 0,
        ..Interval::default()
    }
}

fn reading(mode: MonitorMode, number: u64) -> Reading {
    let begin_s = (number - 1) as f64;
    Reading {
        total: interval(mode, 0.0, number as f64, (1..=number).sum()),
        since_last: interval(mode, begin_s, 1.0, number),
    }
}

fn view(mode: MonitorMode) -> View {
    let mut view = View::new(&monitoring(mode), false);
    for number in 1..=4 {
        view.update(reading(mode, number));
    }
    view
}

fn type_keys(view: &mut View, text: &str) {
    for c in text.chars() {
        assert!(!press(view, KeyCode::Char(c).into()), "{c} ended it");
    }
}

fn frame(view: &mut View, width: u16, height: u16) -> String {
    let terminal = terminal(view, width, height);
    match terminal.backend().buffer().area.is_empty() {
        // The test's terminal cannot print bars.
        true => String::new(),
        false => terminal.backend().to_string(),
    }
}

fn terminal(view: &mut View, width: u16, height: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, view)).unwrap();
    terminal
}

#[test]
fn tables_of_each_mode() {
    for mode in [
        MonitorMode::Count,
        MonitorMode::Time,
        MonitorMode::Histogram,
    ] {
        insta::assert_snapshot!(format!("table-{mode}"), frame(&mut view(mode), 120, 14));
    }
    insta::assert_snapshot!("table-80", frame(&mut view(MonitorMode::Histogram), 80, 14));
}

#[test]
fn before_the_first_figures() {
    let mut view = View::new(&monitoring(MonitorMode::Time), false);
    insta::assert_snapshot!("waiting", frame(&mut view, 80, 12));
    // An idle container calls no hook.
    let nothing = Interval {
        hooks: Vec::new(),
        ..interval(MonitorMode::Time, 0.0, 1.0, 1)
    };
    view.update(Reading {
        total: nothing.clone(),
        since_last: nothing,
    });
    assert!(frame(&mut view, 80, 12).contains("No hook has been called."));
    for key in [KeyCode::Down, KeyCode::End, KeyCode::Enter] {
        press(&mut view, key.into());
        assert_eq!(view.page, Page::Table);
        frame(&mut view, 80, 12);
    }
}

#[test]
fn a_filter_is_typed() {
    let mut view = view(MonitorMode::Time);
    type_keys(&mut view, "/INODE_p");
    insta::assert_snapshot!("filter-typed", frame(&mut view, 80, 12));
    press(&mut view, KeyCode::Enter.into());
    insta::assert_snapshot!("filtered", frame(&mut view, 80, 12));
    type_keys(&mut view, "/");
    for _ in 0..20 {
        press(&mut view, KeyCode::Backspace.into());
    }
    type_keys(&mut view, "*open");
    assert_eq!(view.len(), 1);
    type_keys(&mut view, "q");
    assert!(frame(&mut view, 80, 12).contains("Esc shows all"));
    press(&mut view, KeyCode::Esc.into());
    assert_eq!(view.len(), 5);
}

#[test]
fn columns_are_sorted_by() {
    let mut view = view(MonitorMode::Time);
    assert_eq!(view.sort, Column::Share);
    let first = |view: &View| view.row(0).unwrap().total.hook.clone();
    assert_eq!(first(&view), "inode_permission");
    press(&mut view, KeyCode::Left.into());
    assert_eq!(
        (view.sort, &*first(&view)),
        (Column::Max, "bprm_check_security")
    );
    type_keys(&mut view, "r");
    assert_eq!(first(&view), "inode_getattr");
    for _ in 0..20 {
        type_keys(&mut view, "<");
    }
    assert_eq!(
        (view.sort, &*first(&view)),
        (Column::Hook, "inode_permission")
    );
    type_keys(&mut view, "r");
    assert_eq!(first(&view), "bprm_check_security");
    insta::assert_snapshot!("sorted-by-name", frame(&mut view, 100, 12));
}

#[test]
fn a_selected_hook_stays_selected() {
    let mode = MonitorMode::Count;
    let mut view = view(mode);
    press(&mut view, KeyCode::Down.into());
    let selected = |view: &View| view.selected_figure().unwrap().total.hook.clone();
    assert_eq!(selected(&view), "inode_getattr");
    let mut next = reading(mode, 5);
    next.total.hooks[0].calls.count = 1_000_000;
    view.update(next);
    assert_eq!((view.selected(), &*selected(&view)), (2, "inode_getattr"));
    press(&mut view, KeyCode::End.into());
    assert_eq!(selected(&view), "bprm_check_security");
    press(&mut view, KeyCode::Home.into());
    assert_eq!(selected(&view), "file_open");
}

#[test]
fn while_paused_figures_freeze() {
    let mode = MonitorMode::Time;
    let mut view = view(mode);
    type_keys(&mut view, "p");
    let before = frame(&mut view, 80, 12);
    insta::assert_snapshot!("paused", before);
    view.update(reading(mode, 5));
    assert_eq!(frame(&mut view, 80, 12), before);
    type_keys(&mut view, " ");
    let after = frame(&mut view, 80, 12);
    assert!(!after.contains("PAUSED") && after != before, "{after}");
    assert_eq!(view.figures().total.seconds, 5.0);
}

#[test]
fn figures_of_the_last_interval() {
    let mut view = view(MonitorMode::Count);
    assert_eq!(view.row(0).unwrap().calls(), 19_000);
    type_keys(&mut view, "a");
    assert_eq!(view.row(0).unwrap().calls(), 7_600);
    assert!(frame(&mut view, 80, 12).contains("last interval"));
    let mut next = reading(MonitorMode::Count, 5);
    next.since_last.hooks.clear();
    view.update(next);
    assert_eq!((view.len(), view.row(0).unwrap().calls()), (5, 0));
}

#[test]
fn detail_of_a_hook() {
    let mut with_histogram = view(MonitorMode::Histogram);
    press(&mut with_histogram, KeyCode::Enter.into());
    insta::assert_snapshot!("detail", frame(&mut with_histogram, 100, 32));
    let low = frame(&mut with_histogram, 100, 12);
    press(&mut with_histogram, KeyCode::End.into());
    let end = frame(&mut with_histogram, 100, 12);
    assert!(!low.contains("apparmor_inode_permission"), "{low}");
    assert!(end.contains("apparmor_inode_permission"), "{end}");
    press(&mut with_histogram, KeyCode::Esc.into());
    assert_eq!(with_histogram.page, Page::Table);
    let mut counts = view(MonitorMode::Count);
    press(&mut counts, KeyCode::Enter.into());
    insta::assert_snapshot!("detail-count", frame(&mut counts, 60, 20));
}

#[test]
fn modules_are_shown_when_asked_for() {
    let mut view = view(MonitorMode::Time);
    assert_eq!(view.len(), 5);
    type_keys(&mut view, "m");
    assert_eq!(view.len(), 6);
    insta::assert_snapshot!("modules", frame(&mut view, 120, 12));
    type_keys(&mut view, "m");
    assert_eq!(view.len(), 5);
    // Without hooks, modules' functions are shown at once.
    let mut only = reading(MonitorMode::Time, 5);
    only.total.hooks.retain(|hook| hook.module.is_some());
    view.update(only);
    assert_eq!(view.len(), 1);
}

#[test]
fn help_and_the_end() {
    let mut view = view(MonitorMode::Time);
    type_keys(&mut view, "?");
    insta::assert_snapshot!("help", frame(&mut view, 80, 18));
    type_keys(&mut view, "q");
    view.ended = true;
    assert!(frame(&mut view, 80, 12).contains("lsmeter monitor  ENDED  4 s"));
    assert!(press(&mut view, KeyCode::Char('q').into()));
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(press(&mut view, interrupt));
}

#[test]
fn lost_calls_are_shown_in_red() {
    let mut lossy = reading(MonitorMode::Time, 1);
    lossy.total.lost = 12;
    let mut view = View::new(&monitoring(MonitorMode::Time), true);
    view.update(lossy);
    let terminal = terminal(&mut view, 80, 12);
    let text = terminal.backend().to_string();
    assert!(text.contains("12 calls LOST"), "{text}");
    let cells = terminal.backend().buffer().content();
    assert!(cells.iter().any(|cell| cell.fg == Color::Red));
}

#[test]
fn without_colours_there_are_none() {
    for page in [Page::Table, Page::Detail, Page::Help] {
        let mut view = view(MonitorMode::Histogram);
        view.page = page;
        let terminal = terminal(&mut view, 100, 30);
        for cell in terminal.backend().buffer().content() {
            assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
        }
    }
}

#[test]
fn tiny_terminals() {
    let mut view = view(MonitorMode::Histogram);
    insta::assert_snapshot!("tiny", frame(&mut view, 40, 8));
    press(&mut view, KeyCode::Enter.into());
    insta::assert_snapshot!("tiny-detail", frame(&mut view, 40, 8));
    for page in [Page::Table, Page::Detail, Page::Help] {
        view.page = page;
        for width in [0, 1, 2, 5, 12, 23, 33, 40, 41] {
            for height in 0..12 {
                frame(&mut view, width, height);
            }
        }
    }
}
