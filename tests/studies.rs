//! Studies that are found in their folders: whoever computes a part of one, the files are those of
//! the process that computes all of it, to the byte.

use dalembert::Input;
use dalembert::studies::{self, Asked, OpenError, Study};
use dalembert::sweep::store::{self, Refused, Store};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const MODEL: &str = "param l = 1, g = 9.81\ncoord x, y\nkinetic (x'^2 + y'^2)/2\npotential g*y\n\
    constraint rod: x^2 + y^2 = l^2\nstart x = 0.5, y ~ -1\nrun t = 0..0.7\nobserve h = y + l\n";

fn folder(name: &str) -> PathBuf {
    let path =
        std::env::temp_dir().join(format!("dalembert-studies-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn study(asked: &Asked, set: &[String]) -> Study {
    let (input, plan) = (Input::text("model", MODEL), asked.plan().expect("a plan"));
    let loaded = studies::load(&input, set, asked, &plan);
    Study::new(loaded, &input, set, asked, plan).expect("a study")
}

fn go_on(study: &Study, store: &mut Store) {
    let end = study.run(store, 2, &mut |_| ControlFlow::Continue(()));
    assert_eq!(end.expect("files"), ControlFlow::Continue(()));
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    entries.map(|path| (name(&path), std::fs::read(&path).expect("a file"))).collect()
}

/// Numbers that are hard to write, expressions that are kept, overrides, trajectories, a table.
fn all_asked() -> [Asked; 3] {
    let lanes = 8;
    let axes = Asked {
        vary: vec!["l = 0.9..1.1".to_owned(), "x' ~ normal(0, 0.1)".to_owned()],
        samples: Some(23),
        seed: 7,
        end: Some(0.1 + 0.2),
        tolerance: Some(1e-9 / 3.0),
        observe: vec!["e = x^2 + y'^2".to_owned(), "h".to_owned()],
        part: Some(5),
        lanes,
        ..Asked::default()
    };
    let names = vec!["l".to_owned(), "g".to_owned()];
    let values = (0..14).map(|k| if k % 2 == 0 { 1.0 } else { 9.0 + 0.1 / f64::from(k) }).collect();
    let table = Asked { cases: Some((names, values)), part: Some(3), lanes, ..Asked::default() };
    let whole = Asked {
        vary: vec!["g = {9, 9.5, 10}".to_owned()],
        tables: true,
        every: Some(0.3),
        method: Some("dop853".to_owned()),
        formulation: Some("hamilton".to_owned()),
        part: Some(2),
        lanes,
        ..Asked::default()
    };
    [axes, table, whole]
}

#[test]
fn parts_by_whoever_finds_the_folder_are_those_of_one_process() {
    for (at, asked) in all_asked().iter().enumerate() {
        let set = ["g = 9.7".to_owned()];
        let (alone, shared) = (folder(&format!("alone{at}")), folder(&format!("shared{at}")));
        let own = study(asked, &set);
        let mut store = Store::open(&alone, own.form().clone(), false).expect("a folder");
        go_on(&own, &mut store);
        store.summary().expect("files");
        drop(Store::open(&shared, own.form().clone(), false).expect("a folder"));
        for part in store::parts_left(&shared).expect("parts").into_iter().rev() {
            let found = Study::open(&shared).expect("a study");
            assert_eq!(found.columns(), own.columns());
            let mut store = Store::open_part(&shared, found.form().clone(), part).expect("a part");
            go_on(&found, &mut store);
        }
        let found = Study::open(&shared).expect("a study");
        let last = Store::open(&shared, found.form().clone(), true).expect("a folder");
        assert!(last.left().is_empty());
        last.summary().expect("files");
        assert_eq!(files(&shared), files(&alone));
        assert_eq!(files(&alone).contains_key("table.parquet"), at == 1);
        for folder in [alone, shared] {
            std::fs::remove_dir_all(folder).expect("a folder");
        }
    }
}

#[test]
fn what_is_no_study_is_told() {
    let place = folder("none");
    assert!(matches!(Study::open(&place), Err(OpenError::Refused(Refused::Nothing))));
    std::fs::create_dir_all(&place).expect("a folder");
    std::fs::write(place.join("sweep.json"), "{}").expect("a file");
    assert!(matches!(Study::open(&place), Err(OpenError::Broken(_))));
    std::fs::remove_dir_all(&place).expect("a folder");
    let [_, table, _] = all_asked();
    let own = study(&table, &[]);
    drop(Store::open(&place, own.form().clone(), false).expect("a folder"));
    // The table of another study.
    std::fs::write(place.join("table.parquet"), b"PAR1").expect("a file");
    assert!(matches!(Study::open(&place), Err(OpenError::Broken(_))));
    std::fs::remove_dir_all(&place).expect("a folder");
    // A model with faults is not a study.
    let (input, asked) = (Input::text("model", "coord x"), Asked { lanes: 1, ..table });
    let plan = asked.plan().expect("a plan");
    let loaded = studies::load(&input, &[], &asked, &plan);
    assert!(Study::new(loaded, &input, &[], &asked, plan).is_err());
}
