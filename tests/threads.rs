//! One model on several threads: with a clone each, and shared.

use dalembert::export::Derivation;
use dalembert::formulations::ALL;
use dalembert::{EquationsOfMotion, Input, Model, Options, derive, load};

const THREADS: usize = 4;

fn page(name: &str) -> Model {
    let input = Input::open(&format!("gallery:{name}")).expect("the page is there");
    load(&input, &Options::default()).model.expect("no faults")
}

/// Every formulation that applies.
fn all(model: &Model) -> Vec<EquationsOfMotion> {
    ALL.iter().filter_map(|f| derive(model, Some(f.name())).ok()).collect()
}

fn on_threads<T: Send>(run: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..THREADS).map(|_| scope.spawn(&run)).collect();
        handles.into_iter().map(|h| h.join().expect("no panic")).collect()
    })
}

#[test]
fn clones_of_a_model_give_the_same_equations_node_by_node() {
    for name in ["whipple-bicycle", "knife-edge", "relativistic-pendulum"] {
        let model = page(name);
        let before = model.exprs.len();
        let found = on_threads(|| {
            let own = model.clone();
            let equations = all(&own);
            let roots: Vec<_> = equations.iter().map(|e| e.roots()).collect();
            (roots, own.exprs.len())
        });
        assert_eq!(model.exprs.len(), before, "{name}: clones add to themselves alone");
        let alone: Vec<_> = all(&model).iter().map(|e| e.roots()).collect();
        assert!(alone.len() >= 3, "{name}: {} formulations", alone.len());
        for (roots, count) in found {
            assert_eq!(roots, alone, "{name}");
            assert_eq!(count, model.exprs.len(), "{name}");
        }
    }
}

#[test]
fn threads_that_share_a_model_derive_the_same_equations() {
    for name in ["double-pendulum", "knife-edge", "spherical-pendulum"] {
        let text = |model: &Model| -> Vec<String> {
            all(model).iter().map(|equations| Derivation::new(model, equations).to_text()).collect()
        };
        let alone = text(&page(name));
        let model = page(name);
        for found in on_threads(|| text(&model)) {
            assert_eq!(found, alone, "{name}");
        }
    }
}
