//! Random consistent states of systems whose constraints depend on each other where they hold
//! only: each is on the constraints up to rounding, and none in a singular position.

use dalembert::simulate::points::random_states;
use dalembert::simulate::{Setting, start};
use dalembert::{Input, Options, load};

/// Cranks of one length on one coupler, and one more at a random place along it.
fn parallelogram(part: f64, angle: f64) -> String {
    let (x, y) = (1.25 * angle.cos(), 1.25 * angle.sin());
    format!(
        "param s = {part}
         coord x1, y1, x2, y2
         let r1 = [x1, y1], r2 = [x2, y2], D = [2, 0]
         let c = r1 + s*(r2 - r1) - s*D
         kinetic dot(r1', r1') + 3/2*dot(r2', r2')
         potential 9.8*(2*y1 + 3*y2)
         constraint left: dot(r1, r1)/2 = 1.25^2/2
         constraint right: dot(r2 - D, r2 - D)/2 = 1.25^2/2
         constraint coupler: dot(r2 - r1, r2 - r1)/2 = 2
         constraint more: dot(c, c)/2 = 1.25^2/2
         start x1 ~ {x:?}, y1 ~ {y:?}, x2 ~ {:?}, y2 ~ {y:?}",
        2.0 + x
    )
}

#[test]
fn states_are_on_the_constraints_and_not_singular() {
    let mut seen = 0;
    for case in 0..30u32 {
        let text = parallelogram(0.2 + 0.02 * f64::from(case), 0.5 + 0.07 * f64::from(case));
        let loaded = load(&Input::text("model", &text), &Options::default());
        let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let setting = Setting::new(&model).expect("values");
        let start = start::start(&setting).expect("a start");
        for state in random_states(&setting, &start, 3, u64::from(case)) {
            let table = state.table(&model.system);
            for constraint in &model.system.constraints {
                let residual = setting.number(constraint.residual, &table);
                assert!(residual.abs() <= 1e-13, "{text}\n{residual:e} at {:?}", state.q);
            }
            // All bars along one line, up to what ranks are decided by.
            assert!(state.q[1].abs() > 1e-7, "{text}\n{:?}", state.q);
            seen += 1;
        }
    }
    assert!(seen >= 60, "only {seen} states");
}
