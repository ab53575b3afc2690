//! `dal sweep` as a program: files that do not depend on threads, a process that is killed and
//! goes on, cases that fail, and what is said of wrong usage.

mod support;

use dalembert::export::sinks;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::dal;

const MODEL: &str = "system Pendulum\nparam l = 1, g = 9.81, w = sqrt(g/l)\ncoord x, y\n\
    kinetic (x'^2 + y'^2)/2\npotential g*y\nconstraint rod: x^2 + y^2 = l^2\n\
    start x = 0.5, y ~ -1, x' = 0\nrun t = 0..2\nobserve h = y + l, w\n";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("dal-sweep-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        std::fs::write(path.join("model.dal"), MODEL).expect("a file");
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    entries.map(|path| (name(&path), std::fs::read(&path).expect("a file"))).collect()
}

fn sweep(arguments: &[&str]) -> (i32, Value, String) {
    let output = dal(&[&["sweep"], arguments, &["--json"]].concat(), "");
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let value = serde_json::from_str(&text).unwrap_or_default();
    (output.status.code().expect("an exit status"), value, says)
}

/// A small pendulum on its rod: w is defined by l, and x' is a value of the start.
#[test]
fn cases_are_right() {
    let folder = Folder::new("right");
    let (model, out) = (folder.path("model.dal"), folder.path("out"));
    let vary = "l = {1, 4}, x' = 0..1:0.5";
    let observe = ["--observe", "E = (x'^2 + y'^2)/2 + g*y", "--observe", "w"];
    let arguments = [&[model.as_str(), "--vary", vary, "--out", &out][..], &observe].concat();
    let (status, found, says) = sweep(&arguments);
    assert_eq!(status, 0, "{says}");
    assert_eq!((&found["cases"], &found["failed"]), (&6.into(), &0.into()));
    let of = |name: &str, what: &str| found["columns"][name][what].as_f64().expect("a number");
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-7, "{a} {b}");
    close(of("w", "largest"), 9.81f64.sqrt());
    close(of("w", "least"), (9.81f64 / 4.0).sqrt());
    // Start: x' = v, y' = −x v/y, which the energy keeps.
    let energy = |l: f64, v: f64| {
        let y = -(l * l - 0.25).sqrt();
        (v * v + (0.5 * v / y).powi(2)) / 2.0 + 9.81 * y
    };
    let all: Vec<f64> =
        [1.0, 4.0].iter().flat_map(|&l| [0.0, 0.5, 1.0].map(|v| energy(l, v))).collect();
    close(of("E", "mean"), all.iter().sum::<f64>() / 6.0);
    close(of("start(x')", "mean"), 0.5);
}

#[test]
fn files_do_not_depend_on_threads() {
    let folder = Folder::new("threads");
    let model = folder.path("model.dal");
    let run = |threads: &str| {
        let out = folder.path(&format!("out{threads}"));
        let vary = "l = 0.6..2, x' ~ normal(0, 1)";
        let (status, _, says) = sweep(&[
            &model,
            "--vary",
            vary,
            "--samples",
            "64",
            "--sampling",
            "sobol",
            "--trajectories",
            "--every",
            "0.5",
            "--threads",
            threads,
            "--out",
            &out,
        ]);
        assert_eq!(status, 0, "{says}");
        files(Path::new(&out))
    };
    let one = run("1");
    assert!(
        one.contains_key("cases-00000.parquet") && one.contains_key("trajectories-00000.parquet")
    );
    assert_eq!(one, run("2"));
    assert_eq!(one, run("5"));
}

/// Ends alone: cases are moved several at once.
#[test]
fn files_do_not_depend_on_lanes() {
    let folder = Folder::new("lanes");
    let model = folder.path("model.dal");
    for (vary, name) in [("l = 0.6..2, x' ~ normal(0, 1)", "both"), ("x' = -1..1", "start")] {
        let run = |lanes: &str, threads: &str| {
            let out = folder.path(&format!("{name}{lanes}-{threads}"));
            let study = ["--samples", "150", "--sampling", "random", "--out", &out];
            let crew = ["--lanes", lanes, "--threads", threads];
            let (status, found, says) =
                sweep(&[&[&model[..], "--vary", vary], &study[..], &crew[..]].concat());
            assert_eq!(status, 0, "{says}");
            (found["failed"].clone(), files(Path::new(&out)))
        };
        let (failed, one) = run("1", "1");
        assert!(failed.as_u64().is_some_and(|failed| failed < 20), "{failed}");
        for (lanes, threads) in [("1", "2"), ("4", "1"), ("4", "3"), ("8", "1"), ("8", "2")] {
            assert_eq!(one, run(lanes, threads).1, "{vary}, {lanes} lanes, {threads} threads");
        }
    }
}

/// Events happen in cases that are moved several at once: bounces by a case's own part e of the
/// speed, and an end where one stops the case. With t₁ = √(2h/g) the second bounce is at t₁(1 + 2e).
#[test]
fn events_happen_in_studies_of_ends() {
    let folder = Folder::new("events");
    let (bounces, lands) = (folder.path("bounces.dal"), folder.path("lands.dal"));
    let plain = "param g = 10, e = 0.8, h = 5\ncoord y, x, count, last\n\
        kinetic (x'^2 + y'^2 + count'^2 + last'^2)/2\npotential g*y\nstart y = h, x' = 1\n";
    let hit =
        "event hit: y = 0 falling -> y' = -e*y', count = count + 1, last = t\nrun t = 0..2.9\n";
    let stop = "event lands: y = 0 falling -> stop\nrun t = 0..20\n";
    std::fs::write(&bounces, format!("{plain}{hit}")).expect("a file");
    std::fs::write(&lands, format!("{plain}{stop}")).expect("a file");
    let run = |model: &str, vary: &str, lanes: &str| {
        let out = folder.path(&format!("out{}{lanes}", model.len()));
        let study = ["--samples", "40", "--sampling", "sobol", "--tol", "1e-10", "--out", &out];
        let observe =
            ["--observe", "y", "--observe", "x", "--observe", "count", "--observe", "last"];
        let all = [&[model, "--vary", vary], &study[..], &["--lanes", lanes], &observe].concat();
        let (status, found, says) = sweep(&all);
        assert_eq!(status, 0, "{says}");
        assert_eq!(found["failed"], 0, "{found}");
        let files = files(Path::new(&out));
        std::fs::remove_dir_all(&out).expect("a folder");
        (found, files)
    };
    let (found, one) = run(&bounces, "e = 0.65..0.9", "1");
    let of = |found: &serde_json::Value, name: &str, what: &str| {
        found["columns"][name][what].as_f64().expect("a number")
    };
    // Bounces at 1 and 1 + 2e are before 2.9, the third at 1 + 2e + 2e² is not.
    assert_eq!((of(&found, "count", "least"), of(&found, "count", "largest")), (2.0, 2.0));
    let mean = 1.0 + 2.0 * of(&found, "e", "mean");
    assert!((of(&found, "last", "mean") - mean).abs() < 1e-8, "{found}");
    assert_eq!(one, run(&bounces, "e = 0.65..0.9", "8").1);
    let (found, one) = run(&lands, "h = 1..9", "1");
    assert!(of(&found, "y", "largest").abs() < 1e-9 && of(&found, "y", "least").abs() < 1e-9);
    // x = t: it has moved since, for √(2h/g).
    let [least, most] = ["least", "largest"].map(|what| (0.2 * of(&found, "h", what)).sqrt());
    assert!((of(&found, "x", "least") - least).abs() < 1e-9, "{found}");
    assert!((of(&found, "x", "largest") - most).abs() < 1e-9, "{found}");
    assert_eq!(one, run(&lands, "h = 1..9", "8").1);
}

/// Cases go through phases of contacts and friction with the programs of others: what comes of a case
/// depends on it alone, and is what it is by itself. A puck stops after v²/(2 mu g), a ball has its second
/// bounce at 1 + 2e.
#[test]
fn phases_of_cases_are_their_own() {
    let folder = Folder::new("phases");
    let (puck, ball) = (folder.path("puck.dal"), folder.path("ball.dal"));
    std::fs::write(
        &puck,
        "param mu = 0.5, g = 10, v = 2, w = 1\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n\
         friction floor: mu*g along [x', y']\ncontact wall: w >= x, restitution 0.5\n\
         observe off = y - 0.8*v^2/(2*mu*g), floor.mode\n\
         start x' = 0.6*v, y' = 0.8*v\nrun t = 0..2\n",
    )
    .expect("a file");
    std::fs::write(
        &ball,
        "param g = 10, e = 0.8\ncoord y\nkinetic y'^2/2\npotential g*y\n\
         contact floor: y >= 0, restitution e\nstate last' = 0\n\
         event land: floor closes -> last = t\nobserve off = last - 1 - 2*e\n\
         start y = 5\nrun t = 0..2.1\n",
    )
    .expect("a file");
    let run = |model: &str, vary: &str, threads: &str, lanes: &str| {
        let out = folder.path(&format!("out{}{threads}{lanes}", model.len()));
        let study = ["--samples", "24", "--sampling", "sobol", "--tol", "1e-11", "--out", &out];
        let crew = ["--threads", threads, "--lanes", lanes];
        let (status, found, says) =
            sweep(&[&[model, "--vary", vary], &study[..], &crew[..]].concat());
        assert_eq!((status, &found["failed"]), (0, &0.into()), "{says}{found}");
        let files = files(Path::new(&out));
        std::fs::remove_dir_all(&out).expect("a folder");
        (found, files)
    };
    // Some of the pucks meet the wall.
    let all = [(&puck, "mu = 0.4..0.9, v = 1..3, w = 0.2..1.5"), (&ball, "e = 0.51..0.54")];
    for (model, vary) in all {
        let (found, one) = run(model, vary, "1", "1");
        for (threads, lanes) in [("2", "1"), ("1", "8"), ("3", "4")] {
            assert_eq!(one, run(model, vary, threads, lanes).1, "{vary}: {threads}, {lanes}");
        }
        if model == &ball {
            for what in ["least", "largest"] {
                let off = found["columns"]["off"][what].as_f64().expect("a number");
                assert!(off.abs() < 1e-9, "{found}");
            }
        }
    }
    let (found, _) = run(&puck, "mu = 0.4..0.9, v = 0.5..2", "2", "8");
    for what in ["least", "largest"] {
        let off = found["columns"]["off"][what].as_f64().expect("a number");
        assert!(off.abs() < 1e-8, "{found}");
        assert_eq!(found["columns"]["floor.mode"][what], 2.0, "{found}");
    }
}

/// Rods that are too short for the start: recorded with the reason, and the others go on.
#[test]
fn a_case_that_fails_does_not_stop_the_rest() {
    let folder = Folder::new("fails");
    let (model, out) = (folder.path("model.dal"), folder.path("out"));
    let (status, found, says) =
        sweep(&[&model, "--vary", "l = {0.1, 1, 0.2, 2, 3}", "--out", &out]);
    assert_eq!(status, 0, "{says}");
    assert_eq!((&found["cases"], &found["failed"]), (&5.into(), &2.into()));
    let cases: Vec<u64> = found["first_failures"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|failure| {
            assert!(failure["why"].as_str().is_some_and(|why| why.len() > 10), "{failure}");
            failure["case"].as_u64().expect("a number")
        })
        .collect();
    assert_eq!(cases, [0, 2]);
    let list = std::fs::read_to_string(Path::new(&out).join("failures.csv")).expect("a file");
    assert_eq!(list.lines().count(), 3, "{list}");
    let (status, _, _) =
        sweep(&[&model, "--vary", "l = {0.1, 0.2}", "--out", &folder.path("none")]);
    assert_eq!(status, 3, "where all fail there is nothing");
}

/// Killed in the middle, thrice: what it leads to is what a process that was not killed leads to.
#[test]
fn a_killed_sweep_goes_on() {
    let folder = Folder::new("killed");
    let model = folder.path("model.dal");
    let arguments = |out: &str| {
        [
            "sweep",
            &model,
            "--vary",
            "l = 0.6..2, x' ~ normal(0, 1)",
            "--samples",
            "400",
            "--t-end",
            "40",
            "--out",
            out,
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let (whole, torn) = (folder.path("whole"), folder.path("torn"));
    let once = |arguments: Vec<String>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dal"));
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert!(once(arguments(&whole)).status().expect("dal starts").success());
    let journal = Path::new(&torn).join("journal-00000");
    let mut length = 0;
    for turn in 0..3 {
        let mut own = arguments(&torn);
        own.extend((turn > 0).then(|| "--resume".to_owned()));
        let mut child = once(own).spawn().expect("dal starts");
        // Until some more cases are in the journal.
        let clock = Instant::now();
        loop {
            let now = std::fs::metadata(&journal).map_or(0, |file| file.len());
            if now > length + 4000 || clock.elapsed() > Duration::from_secs(60) {
                break;
            }
            if child.try_wait().expect("a process").is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        let _ = child.wait();
        let now = std::fs::metadata(&journal).map_or(0, |file| file.len());
        assert!(now >= length, "nothing is lost");
        length = now;
    }
    let mut own = arguments(&torn);
    own.push("--resume".to_owned());
    assert!(once(own).status().expect("dal starts").success());
    assert_eq!(files(Path::new(&torn)), files(Path::new(&whole)));
}

/// Files that a model and its inputs are read from are part of what a study is.
#[test]
fn a_sweep_goes_on_with_the_same_files_only() {
    let folder = Folder::new("files");
    let write = |name: &str, text: &str| std::fs::write(folder.path(name), text).expect("a file");
    write(
        "model.dal",
        "param k = 1\ninput u\ntable f = \"force.csv\"\ncoord x\nkinetic x'^2/2\n\
         potential k*x^2/2\nforce x: u + f(x)\nstart x = 1\nrun t = 0..1\n",
    );
    let (force, drive) = ("s,f\n-9,1\n9,2\n", "t,u\n0,0\n2,1\n");
    write("force.csv", force);
    write("drive.csv", drive);
    let (model, out) = (folder.path("model.dal"), folder.path("out"));
    let input = format!("u={}", folder.path("drive.csv"));
    let plain = [&*model, "--vary", "k = {1, 2, 3}", "--input", &input, "--out", &out];
    let resumed = [&plain[..], &["--resume"]].concat();
    assert_eq!(sweep(&plain).0, 0);
    for name in ["force.csv", "drive.csv"] {
        let text = if name == "force.csv" { force } else { drive };
        write(name, &text.replace('2', "3"));
        let (status, _, says) = sweep(&resumed);
        assert!(status == 2 && says.contains("`files` differ"), "{status} {says}");
        write(name, text);
    }
    let (status, found, says) = sweep(&resumed);
    assert_eq!((status, &found["finished"]), (0, &3.into()), "{says}");
}

#[test]
fn wrong_usage_is_told() {
    let folder = Folder::new("wrong");
    let (model, out) = (folder.path("model.dal"), folder.path("out"));
    let torn = folder.path("torn.parquet");
    std::fs::write(&torn, "PAR1l,x'").expect("a file");
    let cases = [
        (&["--vary", "l = 1..2"][..], "--samples"),
        (&["--vary", "l ~ cauchy(0, 1)", "--samples", "3"], "no law `cauchy`"),
        (&["--vary", "l = 1..pie:1"], "pie"),
        (&["--vary", "l = {1}", "--threads", "0"], "--threads"),
        (&["--vary", "l = {1}", "--resume"], "no study to go on with"),
        (&["--cases", "cases.arrow"], "must end with `.csv` or `.parquet`"),
        (&["--cases", "nowhere.csv"], "cannot read"),
        (&["--cases", "nowhere.parquet"], "cannot read"),
        (&["--cases", &torn], "no Parquet file"),
    ];
    for (arguments, expected) in cases {
        let all = [&[model.as_str(), "--out", &out], arguments].concat();
        let (status, _, says) = sweep(&all);
        assert_eq!(status, 2, "{arguments:?}: {says}");
        assert!(says.contains(expected), "{arguments:?}: {says}");
    }
    // What is varied must be there.
    let output = dal(&["sweep", &model, "--vary", "q = {1}", "--out", &out], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains('q'));
    let output = dal(&["sweep", "gallery:n-link-chain", "--vary", "N = {2, 3}", "--out", &out], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`N` is a constant"));
}

#[test]
fn cases_may_be_a_table() {
    let folder = Folder::new("table");
    let (model, out) = (folder.path("model.dal"), folder.path("out"));
    let cases = folder.path("cases.csv");
    std::fs::write(&cases, "l,x'\n1,0\n2,0.5\n3,1\n").expect("a file");
    let (status, found, says) = sweep(&[&model, "--cases", &cases, "--out", &out]);
    assert_eq!(status, 0, "{says}");
    assert_eq!(found["columns"]["l"]["mean"], 2.0);
    assert_eq!(found["cases"], 3);
}

/// The cases of a Parquet file are those of the same numbers as text.
#[test]
fn a_table_may_be_parquet() {
    let folder = Folder::new("parquet");
    let model = folder.path("model.dal");
    let (csv, parquet) = (folder.path("cases.csv"), folder.path("cases.parquet"));
    let cases = [[1.0, 0.0], [2.0, 0.1 + 0.2], [3.0, -1e-3]];
    let write = |path: &str, rows: &[[f64; 2]]| {
        let ending = path.rsplit('.').next().expect("an ending");
        let open = sinks::by_ending(ending).expect("a kind of table").open;
        let file = Box::new(std::fs::File::create(path).expect("a file"));
        let mut table = open(file, &["l".to_owned(), "x'".to_owned()]).expect("a table");
        rows.iter().for_each(|row| table.row(row).expect("a row"));
        table.finish().expect("an end");
    };
    let run = |table: &str, out: &str| {
        let (status, _, says) = sweep(&[&model, "--cases", table, "--out", &folder.path(out)]);
        (status, says, files(Path::new(&folder.path(out))))
    };
    write(&csv, &cases);
    write(&parquet, &cases);
    let (text, packed) = (run(&csv, "text"), run(&parquet, "packed"));
    assert_eq!((text.0, packed.0), (0, 0), "{} {}", text.1, packed.1);
    assert_eq!(text.2, packed.2);
    // A study goes on with the same table only.
    write(&parquet, &[cases[0], cases[1], [3.0, 0.0]]);
    let resumed = ["--cases", &parquet, "--out", &folder.path("packed"), "--resume"];
    let (status, _, says) = sweep(&[&[model.as_str()][..], &resumed].concat());
    assert!(status == 2 && says.contains("`cases` differ"), "{says}");
    write(&parquet, &[cases[0], [2.0, f64::NAN]]);
    let arguments = ["--cases", &parquet, "--out", &folder.path("missing")];
    let (status, _, says) = sweep(&[&[model.as_str()][..], &arguments].concat());
    assert!(status == 2 && says.contains("row 2 has no value for `x'`"), "{says}");
}

/// Tables as pyarrow writes them: dictionaries, Snappy, both kinds of pages, whole numbers; and
/// what is refused of what it can write.
#[test]
fn tables_of_pyarrow_are_read() {
    let Some(python) = std::env::var_os("DALEMBERT_PYARROW") else { return };
    let folder = Folder::new("pyarrow");
    let program = "import pyarrow as a, pyarrow.parquet as p\n\
        n = 3000\n\
        l = [1 + k % 7 for k in range(n)]\n\
        v = [0.25*(k % 11) if k % 500 else 1/(k + 3) for k in range(n)]\n\
        plain = a.table({'l': a.array(l, a.float64()), \"x'\": a.array(v, a.float64())})\n\
        short = a.table({'l': a.array(l, a.int32()), \"x'\": a.array(v, a.float64())})\n\
        wide = a.table({'l': a.array(l, a.uint64()), \"x'\": a.array(v, a.float64())})\n\
        p.write_table(plain, 'a.parquet')\n\
        p.write_table(short, 'b.parquet', compression='none', data_page_version='2.0')\n\
        p.write_table(wide, 'c.parquet', data_page_version='2.0', row_group_size=700)\n\
        p.write_table(plain, 'd.parquet', use_dictionary=False, data_page_size=2000)\n\
        p.write_table(a.table({'l': [1.0, 2.0]}), 'zstd.parquet', compression='zstd')\n\
        p.write_table(a.table({'l': ['1', '2']}), 'text.parquet')\n\
        p.write_table(a.table({'l': [1.0, None]}), 'null.parquet')\n\
        p.write_table(a.table({'l': [1, 2**53 + 1]}), 'long.parquet')\n\
        p.write_table(a.table({'l': a.array([1, 2], a.timestamp('s'))}), 'time.parquet')\n\
        p.write_table(a.table({'l': [[1.0], [2.0]]}), 'list.parquet')\n\
        open('a.csv', 'w').write(\"l,x'\\n\" + ''.join(f'{x!r},{y!r}\\n' for x, y in zip(l, v)))\n";
    let output = Command::new(python)
        .args(["-c", program])
        .current_dir(&folder.0)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Nothing moves: the cases are what is compared.
    let model = folder.path("still.dal");
    let still = "param l = 1\ncoord x\nkinetic l*x'^2/2\nrun t = 0..1e-3\n";
    std::fs::write(&model, still).expect("a file");
    let run = |table: &str| {
        let (table, out) = (folder.path(table), folder.path(&format!("{table}-out")));
        let arguments = ["--cases", &table, "--observe", "l", "--out", &out];
        let (status, _, says) = sweep(&[&[model.as_str()][..], &arguments].concat());
        (status, says, files(Path::new(&out)))
    };
    let right = run("a.csv");
    assert_eq!(right.0, 0, "{}", right.1);
    for table in ["a", "b", "c", "d"] {
        let found = run(&format!("{table}.parquet"));
        assert_eq!(found.0, 0, "{table}: {}", found.1);
        assert_eq!(found.2, right.2, "{table}");
    }
    let refused = [
        ("zstd", "compressed by Zstandard"),
        ("text", "has texts"),
        ("null", "row 2 has no value for `l`"),
        ("long", "row 2: `l` is 9007199254740993"),
        ("time", "dates or times"),
        ("list", "lists or parts"),
    ];
    for (table, words) in refused {
        let (table, out) = (folder.path(&format!("{table}.parquet")), folder.path("refused"));
        let (status, _, says) = sweep(&[&model, "--cases", &table, "--out", &out]);
        assert!(status == 2 && says.contains(words), "{says}");
    }
}
