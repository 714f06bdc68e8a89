// SPDX-License-Identifier: GPL-2.0-or-later
//! The golden result files as pages, and contradictory result files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{Document, Outcome, Subject};
use report::{Content, Source, figures, markdown_page, page};
use sha2::{Digest, Sha256};

const GOLDEN: [&str; 5] = ["run", "profile", "sensitivity", "monitor", "placement"];

fn golden(name: &str) -> Source {
    let path = format!("../model/tests/golden/{name}.json");
    Source {
        name: format!("{name}.json"),
        content: Content::parse(&std::fs::read(path).unwrap()).unwrap(),
    }
}

fn source(name: &str, run: Document) -> Source {
    Source {
        name: name.to_owned(),
        content: Content::Measured(run.into()),
    }
}

/// The page without its style and scripts, to keep snapshots short.
fn bare(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    for (begin, end) in [("<meta http-equiv", ">"), ("<style>", "</style>")] {
        let (before, after) = rest.split_once(begin).unwrap();
        out += before;
        rest = after.split_once(end).unwrap().1;
    }
    out += rest.split_once("<script>").unwrap().0;
    // One element per line, so that a difference is one line.
    out.replace("><", ">\n<")
}

#[test]
fn pages_of_all_kinds() {
    for name in ["run", "monitor"] {
        insta::assert_snapshot!(format!("page-{name}"), bare(&page(&[golden(name)])));
    }
}

#[test]
fn one_page_of_everything() {
    let sources = GOLDEN.map(golden);
    let text = page(&sources);
    assert_eq!(text, page(&sources));
    let n = figures(&sources).len();
    assert_eq!(text.matches("<figure ").count(), n);
    // Every id occurs once.
    let mut ids: Vec<&str> = text
        .split(" id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for source in &sources {
        assert!(text.contains(&source.name));
    }
}

#[test]
fn nothing_is_fetched() {
    let text = page(&GOLDEN.map(golden));
    let scripts = text.find("<script>").unwrap();
    for word in [" src=", "<link", "@import", "url("] {
        assert!(!text[..scripts].contains(word), "{word}");
    }
    assert!(text.contains("default-src &#39;none&#39;") || text.contains("default-src 'none'"));
}

#[test]
fn nothing_is_injected() {
    let evil = "</script></title></style><script>alert(1)</script><img src=x onerror=alert(2)>\
                \"' onload=alert(3) \u{202e}\\u003c/script>{{7*7}}${alert(4)}";
    let text = std::fs::read_to_string("../model/tests/golden/run.json").unwrap();
    let mut run = Document::parse(text.as_bytes()).unwrap();
    let benign = page(&[golden("run")]);
    for cell in &mut run.cells {
        let key = &mut cell.key;
        key.kernel = evil.to_owned();
        key.subject = Subject::benchmark(key.benchmark().to_owned() + evil, evil);
        key.filesystem = evil.to_owned();
        key.stack.push(evil.to_owned());
        cell.release = evil.to_owned();
        if cell.reason().is_some() {
            cell.outcome = Outcome::without(cell.status(), evil);
        }
        let hooked = cell
            .counted_mut()
            .and_then(|counted| counted.hooked.as_mut());
        for hook in hooked.into_iter().flat_map(|path| &mut path.hooks) {
            hook.hook = evil.to_owned();
            hook.function = evil.to_owned();
        }
    }
    for warning in &mut run.warnings {
        warning.message = evil.to_owned();
    }
    run.environment.cpu = evil.to_owned();
    run.experiment.as_mut().unwrap().description = Some(evil.to_owned());
    let sources = [source(&format!("{evil}.json"), run)];
    let hostile = page(&sources);
    let scripts = |page: &str| page.matches("<script>").count();
    assert_eq!(scripts(&hostile), scripts(&benign));
    assert!(!hostile.contains("<img") && !hostile.contains("<script>alert"));
    for gathered in figures(&sources) {
        let svg = gathered.figure.svg();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let known = ["svg", "title", "desc", "g", "rect", "text", "path"];
        for node in document.descendants().filter(|node| node.is_element()) {
            assert!(known.contains(&node.tag_name().name()));
            assert!(
                node.attributes()
                    .all(|attribute| !attribute.name().starts_with("on"))
            );
        }
    }
    assert!(!markdown_page(&sources).contains("<script"));
}

#[test]
fn only_the_pages_own_scripts_may_run() {
    let text = page(&[golden("run")]);
    let scripts: Vec<&str> = text
        .split("<script>")
        .skip(1)
        .map(|rest| rest.split("</script>").next().unwrap())
        .collect();
    assert_eq!(scripts.len(), 4);
    assert_eq!(text.matches("</script").count(), scripts.len());
    for script in &scripts {
        let hash = STANDARD.encode(Sha256::digest(script));
        assert!(text.contains(&format!("sha256-{hash}")), "{hash}");
        for word in ["eval(", "new Function", "innerHTML", "<!--"] {
            assert!(!script.contains(word), "{word}");
        }
    }
    assert_eq!(text.matches("sha256-").count(), scripts.len());
    assert!(!text.contains("unsafe-eval"));
}

#[test]
fn a_thousand_cells_are_below_five_megabytes() {
    let Content::Measured(mut run) = golden("run").content else {
        panic!("a run")
    };
    let mut cells = run.cells.iter();
    let like = cells
        .find(|cell| cell.estimate().is_some())
        .unwrap()
        .clone();
    run.cells = (0..1_000)
        .map(|at| {
            let mut cell = like.clone();
            let variant = format!("variant-{}", at / 10);
            cell.key.subject = Subject::benchmark(cell.key.benchmark(), variant);
            cell.key.stack = vec!["capability".to_owned(), format!("module{}", at % 10)];
            let estimate = cell.counted_mut().unwrap().estimate.as_mut();
            estimate.unwrap().samples = Some((0..300).map(f64::from).collect());
            cell
        })
        .collect();
    run.warnings.clear();
    let bytes = page(&[source("large.json", *run)]).len();
    assert!(bytes < 5_000_000, "{bytes} bytes");
}

#[test]
fn markdown_of_a_run() {
    insta::assert_snapshot!("markdown-run", markdown_page(&[golden("run")]));
}

#[test]
fn what_has_no_single_path_leads_no_summary() {
    let Content::Measured(mut run) = golden("run").content else {
        panic!("a run")
    };
    let leads = |run: &Document| {
        let page = page(&[source("run.json", run.clone())]);
        let (_, rest) = page.split_once("+selinux over capability").unwrap();
        rest.split_once("</li>").unwrap().0.to_owned()
    };
    assert!(leads(&run).contains("open:AA/BB +31.9 %"));
    // Half of its measured regions take other paths, one of them far longer.
    for cell in &mut run.cells {
        if cell.key.benchmark() != "open" {
            continue;
        }
        if let Some(paths) = cell
            .counted_mut()
            .and_then(|counted| counted.paths.as_mut())
        {
            let mut other = paths.dominant;
            paths.dominant.regions = paths.regions / 4;
            other.regions = paths.regions - paths.dominant.regions;
            paths.others = vec![other];
        }
    }
    let sentence = leads(&run);
    assert!(sentence.contains("stat:AA/BB +29.9 %"), "{sentence}");
    assert!(!sentence.contains("open:AA/BB"), "{sentence}");
    let page = page(&[source("run.json", *run)]);
    assert!(page.contains("~: 1 of 2 operations have no dominant code path"));
}

#[test]
fn the_first_screen_has_a_tile_for_each_operation_and_its_cells_as_data() {
    let text = page(&[golden("run")]);
    let (_, rest) = text.split_once("data-cells=\"glance-1-1\">").unwrap();
    let json = rest.split_once("</pre>").unwrap().0;
    assert!(!json.contains(['<', '>', '&']));
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    let rows = data["rows"].as_array().unwrap();
    for (at, row) in rows.iter().enumerate() {
        for place in 1..row["cells"].as_array().unwrap().len() {
            let link = format!("href=\"#cell=glance-1-1.{at}.{place}\"");
            assert_eq!(text.matches(&link).count(), 1, "{link}");
        }
    }
    assert_eq!(data["columns"][0], "capability");
    let command = data["commands"][1].as_str().unwrap();
    assert!(command.starts_with("lsmeter profile --kernel debian:6.1 --stack capability"));
}

#[test]
fn bars_are_left_out_only_where_a_map_has_what_they_show() {
    let Content::Measured(run) = golden("run").content else {
        panic!("a run")
    };
    let counted = |stack: &str| {
        let own = |cell: &&model::Cell| {
            cell.key.benchmark() == "open" && cell.key.stack.join(",") == stack
        };
        run.cells.iter().find(own).unwrap().clone()
    };
    let rendered = |stacks: &[&str]| {
        let mut many = run.clone();
        many.warnings.clear();
        let cells = stacks.iter().flat_map(|stack| {
            (0..50).map(|at| {
                let mut cell = counted(stack);
                cell.key.subject = Subject::benchmark("open", format!("variant-{at}"));
                cell
            })
        });
        many.cells = cells.collect();
        page(&[source("many.json", *many)])
    };
    let bars = |page: &str| page.contains("id=\"figure=absolute\"");
    let compared = rendered(&["capability", "capability,selinux"]);
    assert!(compared.contains("Map of overheads") && !bars(&compared));
    let alone = rendered(&["capability"]);
    assert!(!alone.contains("Map of overheads") && bars(&alone));
}
