//! A study that is left and gone on with: nothing is lost, nothing is computed twice, and what
//! comes out is the same to the last byte, on any number of threads.

use dalembert_sweep::plan::{Asked, Plan};
use dalembert_sweep::pool::Crew;
use dalembert_sweep::store::{self, Done, Form, Refused, Store};
use dalembert_sweep::study::Progress;
use dalembert_sweep::{axes, study};
use serde_json::json;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("dalembert-sweep-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn plan(samples: u64) -> Plan {
    let axes = axes::parse("a = 1..3, b ~ normal(0, 1)", &|x| x.parse().map_err(|_| String::new()));
    let asked = Asked { samples: Some(samples), seed: 5, ..Asked::default() };
    Plan::new(axes.expect("axes"), &asked).expect("a plan")
}

fn form(plan: &Plan) -> Form {
    let columns = ["a", "b", "sum", "product"].map(str::to_owned).to_vec();
    let table = Some(vec!["t".to_owned(), "x".to_owned()]);
    let (identity, beside) = (json!({"seed": 5, "count": plan.count()}), json!({"name": "model"}));
    Form { identity, count: plan.count(), columns, table, part: 64, beside, cases: None }
}

/// Some fail, some have long tables.
fn work(values: &[f64]) -> Done {
    let (a, b) = (values[0], values[1]);
    let table = (0..(10.0 * a) as u64).flat_map(|k| [k as f64, b * k as f64]).collect();
    match b > 1.5 {
        true => Done { failure: Some(format!("b = {b} is \"too\" large")), ..Done::default() },
        false => Done { row: vec![a + b, a * b], failure: None, table },
    }
}

fn all(cases: &[&[f64]]) -> Vec<Done> {
    cases.iter().map(|values| work(values)).collect()
}

/// All files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    entries
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read(&path).expect("a file"))
        })
        .collect()
}

fn whole(name: &str, threads: usize, at_once: usize) -> BTreeMap<String, Vec<u8>> {
    let (folder, plan) = (folder(name), plan(1000));
    let mut store = Store::open(&folder, form(&plan), false).expect("a folder");
    let watch = &mut |_| ControlFlow::Continue(());
    let crew = Crew { threads, at_once };
    let end = study::run(&mut store, &plan, crew, || (), |(), cases| all(cases), watch);
    assert_eq!(end.expect("files"), ControlFlow::Continue(()));
    let summary = store.summary().expect("files");
    assert_eq!(summary.count, 1000);
    assert!(summary.failed > 20, "some fail, and the others go on");
    let found = files(&folder);
    std::fs::remove_dir_all(&folder).expect("a folder");
    assert!(found.keys().all(|name| !name.starts_with("journal") && !name.ends_with("unfinished")));
    found
}

#[test]
fn results_do_not_depend_on_threads() {
    let one = whole("one", 1, 1);
    for (threads, at_once) in [(2, 1), (3, 1), (8, 1), (1, 8), (3, 8)] {
        let name = format!("threads{threads}-{at_once}");
        assert_eq!(one, whole(&name, threads, at_once));
    }
    assert_eq!(one.keys().filter(|name| name.starts_with("cases-")).count(), 2 * 16);
}

#[test]
fn a_study_goes_on_where_it_was_left() {
    let right = whole("right", 2, 1);
    let (folder, plan) = (folder("left"), plan(1000));
    let counts: Vec<AtomicU32> = (0..1000).map(|_| AtomicU32::new(0)).collect();
    let case_of = |values: &[f64]| {
        let mut own = [0.0; 2];
        (0..1000).find(|&case| {
            plan.values(case, &mut own);
            own == *values
        })
    };
    let mut turns = 0;
    loop {
        turns += 1;
        let mut store = Store::open(&folder, form(&plan), turns > 1).expect("a folder");
        let (before, _) = store.counts();
        let mut taken = 0;
        let watch = &mut |_| {
            taken += 1;
            // One turn is long enough for parts to be finished.
            let most = if turns == 3 { 300 } else { 57 };
            if taken >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let computed = |(): &mut (), cases: &[&[f64]]| {
            for case in cases.iter().filter_map(|values| case_of(values)) {
                counts[case as usize].fetch_add(1, Ordering::Relaxed);
            }
            all(cases)
        };
        let crew = Crew { threads: 2, at_once: 1 + turns % 5 };
        let end = study::run(&mut store, &plan, crew, || (), computed, watch).expect("files");
        assert_eq!(store.counts().0, before + taken, "what was finished is there");
        if end.is_continue() {
            store.summary().expect("files");
            break;
        }
        drop(store);
        // A process that is killed while it writes: the end of a journal is torn.
        if turns % 2 == 0
            && let Some((name, bytes)) =
                files(&folder).into_iter().find(|file| file.0.starts_with("journal"))
        {
            let torn = [&bytes[..], &[9, 1, 0, 0, 0, 0, 0, 0, 3, 3]].concat();
            std::fs::write(folder.join(name), torn).expect("a file");
        }
    }
    assert!(turns > 8, "{turns}");
    assert_eq!(files(&folder), right);
    assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1), "each once");
    std::fs::remove_dir_all(&folder).expect("a folder");
}

/// Threads that stand for processes: each takes the parts that are left in an order of its own,
/// waits for nobody, and gives parts up in the middle.
#[test]
fn parts_are_worked_on_by_any_number_at_once() {
    let right = whole("parts-right", 2, 1);
    let (folder, plan) = (folder("parts"), plan(1000));
    drop(Store::open(&folder, form(&plan), false).expect("a folder"));
    let computed = AtomicU32::new(0);
    let work = |first: u64| {
        while let Ok(left) = store::parts_left(&folder)
            && !left.is_empty()
        {
            for part in left.iter().map(|part| left[((part + first) % left.len() as u64) as usize])
            {
                let mut own = match Store::open_part(&folder, form(&plan), part) {
                    Ok(own) => own,
                    Err(Refused::PartBusy) => continue,
                    Err(other) => panic!("{other:?}"),
                };
                let (mut taken, before) = (0, own.counts().0);
                let watch = &mut |progress: Progress| {
                    taken += 1;
                    assert_eq!(progress.count, own_count(part));
                    if taken == 23 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                let crew = Crew { threads: 1, at_once: 3 };
                let end = study::run(&mut own, &plan, crew, || (), |(), cases| all(cases), watch);
                let _ = end.expect("files");
                assert_eq!(own.counts().0, before + u64::from(taken));
                computed.fetch_add(taken, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        (0..4).for_each(|k| drop(scope.spawn(move || work(5 * k))));
        assert!(matches!(Store::open_part(&folder, form(&plan), 16), Err(Refused::NoPart(16))));
    });
    assert_eq!(computed.into_inner(), 1000, "each once");
    let last = Store::open(&folder, form(&plan), true).expect("a folder");
    assert!(matches!(Store::open_part(&folder, form(&plan), 0), Err(Refused::Busy)));
    last.summary().expect("files");
    assert_eq!(files(&folder), right);
    std::fs::remove_dir_all(&folder).expect("a folder");
}

fn own_count(part: u64) -> u64 {
    if part == 15 { 1000 - 15 * 64 } else { 64 }
}

/// How many cases a part has is the folder's; a table of cases is in the folder.
#[test]
fn a_study_is_found_in_its_folder() {
    let (folder, plan) = (folder("found"), plan(10));
    let cases = Some((vec!["a".to_owned()], vec![0.1, 0.2, 0.3]));
    drop(Store::open(&folder, Form { cases, part: 3, ..form(&plan) }, false).expect("a folder"));
    assert_eq!(store::parts_left(&folder).expect("a folder"), [0, 1, 2, 3]);
    let known = store::known(&folder).expect("a folder");
    assert_eq!(store::beside(&known), &json!({"name": "model"}));
    let bytes = std::fs::read(folder.join("table.parquet")).expect("a table");
    let right = (vec!["a".to_owned()], vec![0.1, 0.2, 0.3]);
    assert_eq!(dalembert_sweep::table::read_parquet(&bytes), Ok(right));
    let store = Store::open(&folder, form(&plan), true).expect("a folder");
    assert!(store.left().some(0, 100).eq(0..10));
    drop(store);
    let part = Store::open_part(&folder, form(&plan), 3).expect("a part");
    assert!(part.left().some(0, 100).eq([9]));
    std::fs::remove_dir_all(&folder).expect("a folder");
}

#[test]
fn folders_are_refused_with_a_reason() {
    let (folder, plan) = (folder("refused"), plan(10));
    assert!(matches!(Store::open(&folder, form(&plan), true), Err(Refused::Nothing)));
    let store = Store::open(&folder, form(&plan), false).expect("a folder");
    assert!(matches!(Store::open(&folder, form(&plan), true), Err(Refused::Busy)));
    drop(store);
    assert!(matches!(Store::open(&folder, form(&plan), false), Err(Refused::Taken)));
    let identity = json!({"seed": 6, "count": plan.count()});
    let other = Form { identity, ..form(&plan) };
    match Store::open(&folder, other, true) {
        Err(Refused::Other(keys)) => assert_eq!(keys, ["seed"]),
        _ => panic!("another study"),
    }
    std::fs::remove_dir_all(&folder).expect("a folder");
}

/// What is left of a study is stretches of cases, not a list of them, and parts that nobody has
/// begun are not looked for.
#[test]
fn a_study_may_have_more_cases_than_there_is_memory() {
    let folder = folder("many");
    let many = plan(1 << 30);
    let mut taken = 0;
    for turn in 1..3 {
        let mut store = Store::open(&folder, form(&many), turn > 1).expect("a folder");
        assert_eq!(store.left().count(), (1 << 30) - taken);
        let watch = &mut |_| {
            taken += 1;
            if taken < 70 * turn { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let crew = Crew { threads: 1, at_once: 1 };
        let end = study::run(&mut store, &many, crew, || (), |(), cases| all(cases), watch);
        assert!(end.expect("files").is_break() && taken < 70 * turn + 60);
        assert_eq!(store.counts().0, taken);
        let found = store.summary().expect("files");
        assert_eq!(found.columns[0].1.count + found.failed, taken / 64 * 64);
        assert!(store.left().some(0, 1).eq([taken]));
    }
    std::fs::remove_dir_all(&folder).expect("a folder");
}
