//! Stick–slip over a long time neither drifts nor grows. The test is alone in its file, since it looks at
//! the memory of the process.

mod support;

use support::motion::ran;

/// How much memory the process holds.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<usize>().ok()? * 4096)
}

/// Every period is as long as the first, to the last: in 10⁴ s, with `DALEMBERT_LONG`, some 3000 of
/// them. Nothing is kept but what happened.
#[test]
fn stick_slip_neither_drifts_nor_grows() {
    let end = std::env::var("DALEMBERT_LONG").map_or(400.0, |_| 10_000.0);
    let (k, v, force, most) = (4.0f64, 0.5f64, 2.0f64, 3.0f64);
    let run = |end: f64| {
        let text = format!(
            "coord x
             kinetic x'^2/2
             potential {k}*x^2/2
             friction rub: {force} along x' - {v}, static {most}
             start x = 0, x' = {v}
             run t = 0..{end}, every {end}, tol 1e-12"
        );
        ran(&text, |_| ()).0
    };
    let omega = k.sqrt();
    let away = (most - force) / k;
    let period =
        2.0 * away / v + (std::f64::consts::PI + 2.0 * (v / (omega * away)).atan()) / omega;
    let first = most / (k * v);
    let short = run(end / 10.0);
    let before = resident();
    let report = run(end);
    let after = resident();
    assert!(report.verdict().is_ok(), "{:?}", report.verdict());
    let slips = |report: &dalembert::simulate::run::RunReport| -> Vec<f64> {
        let changes = &report.phases.as_ref().expect("phases").changes;
        let slips = dalembert::model::system::Change::Slips;
        changes.iter().filter(|c| c.change == slips).map(|c| c.t).collect()
    };
    let all = slips(&report);
    assert_eq!(all.len(), ((end - first) / period).floor() as usize + 1);
    let mut worst = 0f64;
    for (n, t) in all.iter().enumerate() {
        worst = worst.max((t - first - n as f64 * period).abs());
    }
    // Each start of a slip is known to the rounding of its time; what is left adds up.
    assert!(worst < 4.0 * f64::EPSILON * end * all.len() as f64, "{worst:e}");
    assert!(report.certificate.energy_balance.is_some_and(|off| off < 1e-10));
    // What happened in the other nine tenths: a line of the report for each change.
    let (Some(before), Some(after)) = (before, after) else { return };
    let lines = slips(&report).len() - slips(&short).len();
    let grown = after.saturating_sub(before);
    eprintln!("off by {worst:e} in {} periods, {grown} bytes", all.len());
    assert!(grown < (4 << 20) + 1024 * lines, "{grown} bytes for {lines} periods");
}
