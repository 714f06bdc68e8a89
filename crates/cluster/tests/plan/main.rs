// SPDX-License-Identifier: GPL-2.0-or-later
//! Plans, held against the schemas of those that they are written for.
//!
//! Needs node and npm, which `make test` installs; what the test takes from npm's registry,
//! once, is kept in $XDG_CACHE_HOME/lsmeter/plan-test.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use cluster::{JobPlan, github, gitlab, kubernetes, slurm, slurm_job};
use serde_json::Value;
use testing::{node_modules, output};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plan");

fn plan(shards: u32, exclusive: bool) -> JobPlan {
    let words = ["my specs/it's.toml", "--fs", "tmpfs", "--bench", "stat:*"];
    JobPlan {
        name: "it's".to_owned(),
        shards,
        program: "lsmeter".to_owned(),
        arguments: words.map(str::to_owned).to_vec(),
        image: "registry/lsmeter:1".to_owned(),
        exclusive,
    }
}

/// A plan as its reader takes it, if it fits the schema.
fn read(schema: &str, text: &str) -> Result<Value, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let mut node = Command::new("node");
    node.arg(Path::new(HERE).join("check.mjs"));
    node.arg(node_modules(Path::new(HERE), "plan-test"))
        .arg(Path::new(HERE).join("schemas").join(schema))
        .arg(file.path());
    Ok(serde_json::from_str(&output(&mut node)?).unwrap())
}

/// What a shell makes of a command, each word in a line.
fn words(command: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let mut shell = Command::new("sh");
    let text = format!("lsmeter() {{ printf '%s\\n' \"$@\"; }}\n{command}");
    shell.arg("-c").arg(text).envs(variables.iter().copied());
    output(&mut shell)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// The words of the fifth of eight jobs.
fn fifth() -> Vec<&'static str> {
    vec![
        "run",
        "my specs/it's.toml",
        "--fs",
        "tmpfs",
        "--bench",
        "stat:*",
        "--shard",
        "5/8",
        "--output",
        "shard-5.json",
        "--quiet",
    ]
}

/// One test, since two of npm at a time would be in each other's way.
#[test]
fn plans_are_what_their_readers_take() {
    for exclusive in [false, true] {
        let plan = plan(8, exclusive);
        let job = read("kubernetes-job.json", &kubernetes(&plan)).unwrap();
        let spec = &job["spec"];
        assert_eq!(
            (&spec["completionMode"], &spec["completions"]),
            (&"Indexed".into(), &8.into())
        );
        assert_eq!(spec["template"]["spec"]["affinity"].is_object(), exclusive);
        let script = spec["template"]["spec"]["containers"][0]["command"][2]
            .as_str()
            .unwrap();
        assert_eq!(words(script, &[("JOB_COMPLETION_INDEX", "4")]), fifth());

        let pipeline = read("gitlab-ci.json", &gitlab(&plan)).unwrap();
        assert_eq!(pipeline["shard"]["parallel"], 8);
        let script = pipeline["shard"]["script"][0].as_str().unwrap();
        let fifth_of_eight = [("CI_NODE_INDEX", "5"), ("CI_NODE_TOTAL", "8")];
        assert_eq!(words(script, &fifth_of_eight), fifth());

        let workflow = read("github-workflow.json", &github(&plan)).unwrap();
        let shard = &workflow["jobs"]["shard"];
        assert_eq!(
            shard["strategy"]["matrix"]["shard"]
                .as_array()
                .unwrap()
                .len(),
            8
        );
        let script = shard["steps"][1]["run"].as_str().unwrap();
        assert_eq!(
            words(&script.replace("${{ matrix.shard }}", "5"), &[]),
            fifth()
        );
        let merge = workflow["jobs"]["merge"]["steps"][1]["run"]
            .as_str()
            .unwrap();
        assert_eq!(words(merge, &[])[0], "merge");
    }
    // The schemas do refuse what is wrong.
    let wrong = kubernetes(&plan(8, false)).replace("completionMode", "completionMood");
    assert!(
        read("kubernetes-job.json", &wrong)
            .unwrap_err()
            .contains("completionMood")
    );
    let wrong = gitlab(&plan(8, false)).replace("parallel: 8", "parallel: 0");
    assert!(
        read("gitlab-ci.json", &wrong)
            .unwrap_err()
            .contains("parallel")
    );
    let wrong = github(&plan(8, false)).replace("runs-on", "runs-in");
    assert!(read("github-workflow.json", &wrong).is_err());
}

#[test]
fn the_job_array() {
    let text = slurm(&plan(8, true));
    insta::assert_snapshot!("slurm", text);
    assert_eq!(words(&text, &[("SLURM_ARRAY_TASK_ID", "5")]), fifth());
    assert!(!slurm(&plan(8, false)).contains("--exclusive"));
}

#[test]
fn each_attempt_of_a_task_goes_on_where_the_last_one_ended() {
    let dir = tempfile::tempdir().unwrap();
    // It measures as far as a file says, and keeps that in its journal.
    let fake = dir.path().join("fake");
    let program = "#!/bin/sh\n\
        while [ \"$1\" != --output ]; do shift; done\n\
        out=$2\n\
        case \"$*\" in *--resume*) [ -s \"$out.journal\" ] || exit 70 ;; \n\
        *) [ ! -e \"$out.journal\" ] || exit 70; echo header >\"$out.journal\" ;; esac\n\
        echo cell >>\"$out.journal\"\n\
        [ -e DIR/refuse ] && { rm DIR/refuse; exit 2; }\n\
        [ -e DIR/die ] && exit 1\n\
        wc -l <\"$out.journal\" >\"$out\"; rm \"$out.journal\"; exit 4\n";
    let shown = dir.path().to_str().unwrap();
    fs::write(&fake, program.replace("DIR", shown)).unwrap();
    let job = JobPlan {
        program: format!("{shown}/fake"),
        ..plan(8, false)
    };
    let mut permissions = fs::metadata(&fake).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&fake, permissions).unwrap();
    let script = dir.path().join("job.sh");
    fs::write(&script, slurm_job(&job, shown)).unwrap();
    let attempt = |number: &str| {
        let mut shell = Command::new("sh");
        shell.arg(&script).stdin(Stdio::null());
        shell
            .env("SLURM_ARRAY_TASK_ID", "5")
            .env("SLURM_JOB_ID", number);
        shell.output().unwrap().status.code().unwrap()
    };
    let document = dir.path().join("shard-5.json");
    let put = |name: &str| fs::write(dir.path().join(name), "").unwrap();
    put("die");
    assert_eq!(attempt("1"), 1);
    assert!(!document.exists());
    assert!(dir.path().join("shard-5.1-0.json.journal").exists());
    // The second goes on with a copy of its journal, and is lost too.
    assert_eq!(attempt("2"), 1);
    fs::remove_file(dir.path().join("die")).unwrap();
    assert_eq!(attempt("3"), 4);
    assert_eq!(fs::read_to_string(&document).unwrap().trim(), "4");
    // What is there is not measured again.
    assert_eq!(attempt("4"), 0);
    // A journal that does not fit is not gone on with.
    fs::remove_file(&document).unwrap();
    put("refuse");
    assert_eq!(attempt("5"), 4);
    assert_eq!(fs::read_to_string(&document).unwrap().trim(), "2");
}
