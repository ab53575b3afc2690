//! Motions moved abreast: the ends that runs have and their events, the same bits alone and in any
//! company, and the driver where something is to be decided.

#[allow(dead_code)]
#[path = "support/pushes.rs"]
mod pushes;

use dalembert::expr::{Random, Symbol};
use dalembert::formulations::{ALL, by_name};
use dalembert::model::system::Energy;
use dalembert::simulate::drive::End;
use dalembert::simulate::points::start::{self, Guess, Start};
use dalembert::simulate::run::{self, Arrived, Departure, Program, RunOptions};
use dalembert::simulate::{Observation, Setting, State};
use dalembert::{Input, Model, Options};
use std::ops::ControlFlow;

fn load(input: &Input) -> Model {
    let loaded = dalembert::load(input, &Options::default());
    let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
    loaded.model.unwrap_or_else(|| panic!("faults\n{shown}"))
}

/// All pages of the gallery.
fn pages() -> Vec<String> {
    let mut names: Vec<String> =
        dalembert::gallery::pages().map(|page| page.name.to_string()).collect();
    names.sort();
    names
}

/// The ends of motions, so many at once.
fn ends(
    program: &Program,
    options: &RunOptions,
    lanes: usize,
    motions: &[Departure],
) -> Vec<Arrived> {
    let ensemble = program.ensemble(options, lanes).expect("it suits").expect("no chart");
    let mut traveller = ensemble.traveller().expect("the same").expect("no chart");
    let mut next = motions.iter().cloned();
    let mut ends = Vec::new();
    traveller.travel_all(&mut || next.next(), &mut |arrived| ends.push(arrived));
    ends.sort_by_key(|arrived| arrived.id);
    assert_eq!(ends.len(), motions.len());
    ends
}

fn options(setting: &Setting, tolerance: f64) -> RunOptions {
    let mut options = RunOptions::of_model(setting);
    (options.method, options.step, options.tolerance) = ("taylor".to_owned(), None, tolerance);
    options
}

/// The last state of a run.
fn by_run(setting: &Setting, options: &RunOptions, start: Start) -> Option<Vec<f64>> {
    let mut last = None;
    let report = run::run_from(setting, options, start, &mut |seen| {
        last = Some((seen.state.t, seen.state.q.clone()));
        ControlFlow::Continue(())
    });
    let (report, (t, q)) = (report.ok()?, last?);
    (report.end == End::Finished && t == options.end).then_some(q)
}

/// The largest difference of positions, relative to the largest of them.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().fold(1e-3f64, |m, q| m.max(q.abs()));
    a.iter().zip(b).fold(0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// How far the end moves if the state at a time on the way is off by a tolerance of the motion's own
/// sizes, in the mean: what a motion makes of local errors, by whatever method. (The pendulum that is
/// shaken a little less than holds it up falls over and comes up again: thousands of tolerances.)
fn carried(
    setting: &Setting,
    program: &Program,
    options: &RunOptions,
    begin: Start,
    right: &[f64],
) -> f64 {
    let mut options = options.clone();
    options.every = None;
    options.times = (1..24).map(|k| options.end * f64::from(k) / 24.0).collect();
    let mut way = Vec::new();
    let go_on = &mut |seen: &Observation| {
        way.push(seen.state.clone());
        ControlFlow::Continue(())
    };
    run::run_from(setting, &options, begin, go_on).expect("as before");
    let by_momenta = matches!(setting.model.system.energy, Energy::Hamiltonian { .. });
    let rate = |state: &State| if by_momenta { &state.momentum } else { &state.velocity }.clone();
    // How far each component goes.
    let far = |of: &dyn Fn(&State) -> Vec<f64>| -> Vec<f64> {
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); of(&way[0]).len()];
        for state in &way {
            for ((low, high), x) in ranges.iter_mut().zip(of(state)) {
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
        ranges.iter().map(|(low, high)| high - low).collect()
    };
    let sizes = [far(&|state| state.q.clone()), far(&rate)];
    let mut random = Random::new(12);
    let mut motions = Vec::new();
    for state in way.iter().flat_map(|state| [state; 2]) {
        let mut near = |x: &[f64], sizes: &[f64]| -> Vec<f64> {
            let all = x.iter().zip(sizes);
            all.map(|(x, size)| x + options.tolerance * size * random.signed().signum()).collect()
        };
        let guess =
            Guess { q: near(&state.q, &sizes[0]), rate: near(&rate(state), &sizes[1]), by_momenta };
        if let Ok(found) = start::from(setting, state.t, &guess, false) {
            motions.push(Departure::new(motions.len(), found.state));
        }
    }
    let ends = ends(program, &options, 1, &motions);
    let squares = ends.iter().map(|arrived| apart(&arrived.x[..right.len()], right).powi(2));
    (squares.sum::<f64>() / ends.len() as f64).sqrt()
}

#[test]
fn every_page_ends_where_its_run_does() {
    let (mut count, mut quiet, mut served, mut amplified) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for name in pages() {
        let model = load(&Input::open(&format!("gallery:{name}")).expect("a page"));
        let Ok(setting) = Setting::new(&model) else { continue };
        for formulation in ALL {
            let options = RunOptions { formulation: *formulation, ..options(&setting, 1e-10) };
            let Ok(program) = Program::new(&setting, &options) else { continue };
            let Ok(Some(_)) = program.ensemble(&options, 1) else { continue };
            let Ok(begin) = start::start(&setting) else { continue };
            let first = Departure::new(0, begin.state.clone());
            let arrived = ends(&program, &options, 1, &[first]).remove(0);
            let Some(q) = by_run(&setting, &options, begin.clone()) else { continue };
            let finer = RunOptions { tolerance: 1e-12, ..options.clone() };
            let Some(right) = by_run(&setting, &finer, begin.clone()) else { continue };
            // Runs by series that follow the work of forces take shorter steps than motions that only
            // arrive; those of another method are as long as the tolerance lets them be.
            let other = RunOptions { method: "dop853".to_owned(), ..options.clone() };
            let other =
                by_run(&setting, &other, begin.clone()).map_or(0.0, |other| apart(&other, &right));
            assert_eq!(arrived.end, End::Finished, "{name} {}", formulation.name());
            let (off, steps) = (apart(&q, &arrived.x), arrived.statistics.steps);
            // As far as runs of that tolerance are known.
            let mut bound = 1e-9 + 30.0 * apart(&q, &right).max(other);
            if off > bound {
                // Both may be right by chance. Hundreds of steps, each of which leaves a twentieth of
                // the tolerance, come to about one in the mean.
                bound = bound.max(carried(&setting, &program, &options, begin, &right));
                amplified += 1;
            }
            let what = formulation.name();
            if off > bound {
                wrong.push(format!("{name} {what}: {off:.1e}, bound {bound:.1e}, {steps} steps"));
            }
            count += 1;
            quiet += usize::from(arrived.served == 0);
            served += arrived.served;
        }
    }
    println!("{count} motions, {quiet} never served, {served} times in all, {amplified} amplified");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 100 && 5 * quiet > 4 * count && served > 10 && amplified < 5);
}

/// Motions from starts around that of a model.
fn around(setting: &Setting, count: usize, seed: u64) -> Vec<Departure> {
    let mut random = Random::new(seed);
    let begin = start::start(setting).expect("a start").state;
    let by_momenta = matches!(setting.model.system.energy, Energy::Hamiltonian { .. });
    let rate = if by_momenta { &begin.momentum } else { &begin.velocity };
    let mut motions = Vec::new();
    for _ in 0..20 * count {
        let mut near = |list: &[f64]| -> Vec<f64> {
            list.iter().map(|x| x + 0.1 * (0.3 + x.abs()) * random.signed()).collect()
        };
        let guess = Guess { q: near(&begin.q), rate: near(rate), by_momenta };
        if let Ok(found) = start::from(setting, begin.t, &guess, false) {
            motions.push(Departure::new(motions.len(), found.state));
        }
        if motions.len() == count {
            break;
        }
    }
    motions
}

/// The number of a motion, the bits of its end and of its events, its counts, how it ended.
type Said = (usize, Vec<u64>, Vec<(u64, usize)>, [u64; 3], String);

/// Everything that is said of an end.
fn bits(arrived: &Arrived) -> Said {
    let x = arrived.x.iter().chain([&arrived.t]).map(|x| x.to_bits()).collect();
    let Arrived { id, statistics, served, end, .. } = arrived;
    let events = arrived.events.iter().map(|(t, event)| (t.to_bits(), *event)).collect();
    let counts = [statistics.steps, statistics.rejected, u64::from(*served)];
    (*id, x, events, counts, format!("{end:?}"))
}

#[test]
fn motions_are_the_same_in_any_company() {
    let names = [
        "double-pendulum",
        "spherical-pendulum",
        "knife-edge",
        "two-masses",
        "benchmarks/andrews",
        "rolling-disk",
        "heavy-top",
        "four-bar",
        "benchmarks/n-four-bar",
        "quaternion-body",
        "greenwood-disk-rolling",
        "substituted-too-early",
        "tracking-controller",
        "bouncing-ball",
        "linkage-hits-a-stop",
    ];
    let (mut count, mut served) = (0, 0);
    for name in names {
        let model = load(&Input::open(&format!("gallery:{name}")).expect("a page"));
        let setting = Setting::new(&model).expect("values");
        for (formulation, tolerance) in [("lagrange", 1e-7), ("hamilton", 1e-11)] {
            let formulation = by_name(formulation).expect("a formulation");
            let options = RunOptions { formulation, ..options(&setting, tolerance) };
            let Ok(program) = Program::new(&setting, &options) else { continue };
            let Ok(Some(_)) = program.ensemble(&options, 1) else { continue };
            let motions = around(&setting, 13, 77);
            assert!(motions.len() > 5, "{name}: {}", motions.len());
            let alone: Vec<_> = motions
                .iter()
                .map(|motion| bits(&ends(&program, &options, 1, std::slice::from_ref(motion))[0]))
                .collect();
            let mut turned = motions.clone();
            turned.reverse();
            for lanes in [1, 4, 8] {
                for company in [&motions[..], &turned, &motions[..5]] {
                    for arrived in ends(&program, &options, lanes, company) {
                        let own = &alone[arrived.id];
                        assert_eq!(bits(&arrived), *own, "{name}, lanes {lanes}");
                        served += arrived.served;
                        count += 1;
                    }
                }
            }
        }
    }
    println!("{count} ends, served {served} times");
    assert!(count > 1000 && served > 10);
}

/// A pendulum with a spring in place of a rod, and a second mass on a rod.
const SPRING: &str = "
    param m = 1, k = 40, l = 1, g = 9.81
    coord x, y, u, w
    kinetic m/2*(x'^2 + y'^2) + (u'^2 + w'^2)/2
    potential k/2*(sqrt(x^2 + y^2) - l)^2 + m*g*y + g*w
    constraint rod: (u - x)^2 + (w - y)^2 = l^2
    start x = 0.5, y = -1, u = 0.5 + l*sin(0.4), w = -1 - l*cos(0.4)
    run t = 0..3
";

#[test]
fn every_motion_has_its_own_parameters() {
    let model = load(&Input::text("spring", SPRING));
    let setting = Setting::new(&model).expect("values");
    let options = options(&setting, 1e-11);
    let program = Program::new(&setting, &options).expect("a program");
    let names = ["m", "k", "l"].map(|name| {
        let mut all = setting.model.system.parameters.iter();
        all.find(|parameter| parameter.name == name).expect("a parameter").symbol
    });
    let mut random = Random::new(5);
    let mut motions = Vec::new();
    for id in 0..11 {
        let values = [1.0, 40.0, 1.0].map(|value| value * (1.0 + 0.3 * random.signed()));
        let pairs: Vec<(Symbol, f64)> = names.into_iter().zip(values).collect();
        let other = setting.with_all(&pairs).expect("values");
        let state = start::start(&other).expect("a start").state;
        motions.push(Departure { id, state, setting: Some(other) });
    }
    let all = [1, 4, 8].map(|lanes| ends(&program, &options, lanes, &motions));
    for (id, motion) in motions.iter().enumerate() {
        let other = motion.setting.as_ref().expect("its own");
        let begin = start::start(other).expect("a start");
        let right = by_run(other, &options, begin).expect("a run");
        for ends in &all {
            assert_eq!(bits(&ends[id]), bits(&all[0][id]));
            let off = apart(&right, &ends[id].x);
            assert!(off < 1e-8, "{id}: {off:.1e}");
        }
    }
    assert!(all[0].iter().filter(|arrived| arrived.served == 0).count() > 8);
}

/// Three rods hold a particle in the plane as long as the last is as long as it has to be.
const RODS: &str = "
    param c = 1
    coord x, y, z
    kinetic (x'^2 + y'^2 + z'^2)/2
    potential 9.81*y + z
    constraint one: x^2 + y^2 = 1
    constraint two: 2*x^2 + 2*y^2 + (c - 1)*z = 2
    start x = 0.6, y = -0.8, z = 0, x' = 0.4, y' = 0.3, z' = 0
    run t = 0..2
";

#[test]
fn rows_that_follow_with_other_values_only_are_held() {
    let model = load(&Input::text("rods", RODS));
    let setting = Setting::new(&model).expect("values");
    let options = options(&setting, 1e-10);
    let program = Program::new(&setting, &options).expect("a program");
    let c = setting.model.system.parameters[0].symbol;
    for (value, falls) in [(1.0, true), (1.5, false)] {
        let other = setting.with_all(&[(c, value)]).expect("values");
        let state = start::start(&other).expect("a start").state;
        let setting = (value != 1.0).then_some(other);
        let motion = Departure { id: 0, state, setting };
        for lanes in [1, 8] {
            let end = ends(&program, &options, lanes, std::slice::from_ref(&motion)).remove(0);
            assert_eq!(end.end, End::Finished);
            assert_eq!(end.x[2].abs() > 0.5, falls, "c = {value}: {:?}", end.x);
        }
    }
}

/// Motions that something moves later on end where runs do, from rest and on their way; in many
/// lanes each as alone.
#[test]
fn what_is_pushed_later_is_where_its_run_is() {
    let mut random = Random::new(21);
    let beside = "coord y\nkinetic y'^2/2\npotential y^2/2\n";
    for k in 0..60 {
        let push = pushes::push(&mut random);
        // Free, held, with what moves beside it, and joined to that.
        let held = ["", "potential x^2/2\n", "force x: -0.1*x'\n"][k % 3];
        let joined = format!("{beside}potential (x - y)^2/8\n");
        let beside = ["", beside, &joined][k / 3 % 3];
        let text = format!(
            "coord x\nkinetic x'^2/2\n{held}{beside}force x: {}\nrun t = 0..{}",
            push.text,
            pushes::END
        );
        let model = load(&Input::text("push", &text));
        let setting = Setting::new(&model).expect("values");
        let options = options(&setting, 1e-9);
        let program = Program::new(&setting, &options).expect("a program");
        let count = model.system.coordinates.len();
        let starts: Vec<(Start, Departure)> = (0..5)
            .map(|id| {
                let mut some = |first: f64| -> Vec<f64> {
                    let list = (0..count).map(|i| if i == 0 { first } else { random.signed() });
                    list.collect()
                };
                let (q, rate) = match id {
                    0 => (some(0.0), vec![0.0; count]),
                    1 => (some(0.1), vec![0.0; count]),
                    2 => (vec![0.0; count], vec![0.0; count]),
                    _ => (some(0.7), some(-0.3)),
                };
                let guess = Guess { q, rate, by_momenta: false };
                let begin = start::from(&setting, 0.0, &guess, false).expect("a start");
                let motion = Departure::new(id, begin.state.clone());
                (begin, motion)
            })
            .collect();
        let motions: Vec<Departure> = starts.iter().map(|(_, motion)| motion.clone()).collect();
        let alone = ends(&program, &options, 1, &motions);
        for (begin, motion) in &starts {
            let right = by_run(&setting, &options, begin.clone()).expect("a run");
            let arrived = &alone[motion.id];
            assert_eq!(arrived.end, End::Finished, "{k}: {text}");
            let size = right.iter().fold(0f64, |m, x| m.max(x.abs()));
            for (own, right) in arrived.x.iter().zip(&right) {
                let off = (own - right).abs();
                assert!(off <= 2e-7 * size, "{k} {}: {own} {right}\n{text}", motion.id);
            }
        }
        for lanes in [4, 8] {
            for arrived in ends(&program, &options, lanes, &motions) {
                assert_eq!(bits(&arrived), bits(&alone[arrived.id]), "{k}, lanes {lanes}: {text}");
            }
        }
    }
}

/// Models that meet something on the way, and whether their events are worth counting.
const MEETING: [(&str, &str); 8] = [
    (
        "floor",
        "param e = 0.9, a = 0.1
        coord x, y
        kinetic (x'^2 + y'^2)/2
        potential 9.81*y
        event hit: y = a*sin(3*x) falling -> y' = -e*y' + 0.3, x' = x' + 0.1*cos(t)
        event side: x = 0.5
        start x = 0, y = 1, x' = 0.7
        run t = 0..4",
    ),
    (
        "rod and wall",
        "param l = 1
        coord x, y
        kinetic (x'^2 + y'^2)/2
        potential 9.81*y
        constraint rod: x^2 + y^2 = l^2
        event wall: x = -0.2 falling -> x' = -0.95*x'
        start x = 0.8, y = -0.6
        run t = 0..5",
    ),
    (
        "section",
        "param g = 9.81
        coord a, b
        let x = sin(a), y = -cos(a), u = sin(a) + sin(b), w = -cos(a) - cos(b)
        kinetic (x'^2 + y'^2 + u'^2 + w'^2)/2
        potential g*(y + w)
        event up: b = 0 rising
        event down: a' = 0 falling
        start a = 0.9, b = 0.4
        run t = 0..6",
    ),
    (
        "stops",
        "coord x, y
        kinetic (x'^2 + y'^2)/2
        potential 9.81*y
        event lands: y = 0.3*x^2 - 1 falling -> stop
        start x = 0, y = 1, x' = 1, y' = 2
        run t = 0..4",
    ),
    (
        "gap",
        "param k = 50, c = 0.3
        coord x
        kinetic x'^2/2
        potential k/2*max(abs(x) - 0.5, 0)^2
        force x: 0.3*sin(2*t) - c*x'*abs(x')
        start x = 0, x' = 1.3
        run t = 0..8",
    ),
    (
        "pushed",
        "coord x, y
        kinetic (x'^2 + y'^2)/2 + x'*y'/4
        potential 3*x^2 + y^2 + if(x > 0.2, (x - 0.2)^2*y/3, 0)
        force x: if(t < 2, 1, -0.5)
        event turn: x' = 0
        start x = 0.4, y = 0.2, y' = 1
        run t = 0..6",
    ),
    (
        "block",
        "coord x
        kinetic x'^2/2
        potential 2*x^2
        force x: -0.3*sign(x')
        start x = 2
        run t = 0..9",
    ),
    (
        "grazes",
        "param d = 1e-5
        coord x, y
        kinetic (x'^2 + y'^2)/2
        potential (x^2 + 9*y^2)/2
        event touches: x = 1 - d -> y' = y' + 0.2
        start x = 0, y = 0.3, x' = 1
        run t = 0..12",
    ),
];

/// How a run ended, when, where, and its events.
type Run = (End, f64, Vec<f64>, Vec<(f64, usize)>);

/// A run as far as it is to be compared.
fn whole_run(setting: &Setting, options: &RunOptions, begin: Start) -> Option<Run> {
    let report = run::run_from(setting, options, begin, &mut |_| ControlFlow::Continue(())).ok()?;
    let events = report.event_log.iter().map(|record| (record.t, record.event)).collect();
    let last = report.last.as_ref()?;
    Some((report.end, last.state.t, last.state.q.clone(), events))
}

/// The kind of an end: when events pile up is not known to the last digit.
fn kind(end: &End) -> String {
    match end {
        End::PiledUp { event, .. } => format!("piled up {event}"),
        other => format!("{other:?}"),
    }
}

/// Motions have the events of their runs, and end as they do.
#[test]
fn what_a_run_meets_is_met() {
    let pages = ["bouncing-ball", "linkage-hits-a-stop"];
    let models = MEETING.iter().map(|(name, text)| (*name, load(&Input::text(name, text))));
    let pages = pages
        .into_iter()
        .map(|name| (name, load(&Input::open(&format!("gallery:{name}")).expect("a page"))));
    let (mut count, mut events, mut abreast, mut open) = (0, 0, 0, 0);
    for (name, model) in models.chain(pages) {
        let setting = Setting::new(&model).expect("values");
        let mut own = 0;
        for formulation in ["lagrange", "hamilton"] {
            let formulation = by_name(formulation).expect("a formulation");
            let mut options = RunOptions { formulation, ..options(&setting, 1e-10) };
            // How many bounces are told where they pile up goes by the tolerance.
            options.end = if name == "bouncing-ball" { 6.0 } else { options.end };
            let Ok(program) = Program::new(&setting, &options) else { continue };
            let Ok(Some(_)) = program.ensemble(&options, 1) else { continue };
            own += 1;
            let begin = start::start(&setting).expect("a start").state;
            let mut motions = vec![Departure::new(0, begin)];
            motions.extend(
                around(&setting, 15, 3)
                    .into_iter()
                    .map(|motion| Departure { id: motion.id + 1, ..motion }),
            );
            for arrived in ends(&program, &options, 8, &motions) {
                let state = &motions[arrived.id].state;
                let begin =
                    || Start { state: state.clone(), ..start::start(&setting).expect("one") };
                let Some(run) = whole_run(&setting, &options, begin()) else { continue };
                let finer = RunOptions { tolerance: 1e-12, ..options.clone() };
                let Some(right) = whole_run(&setting, &finer, begin()) else { continue };
                // Where runs themselves do not agree, nothing is to be told.
                let of = |list: &[(f64, usize)]| list.iter().map(|e| e.1).collect::<Vec<_>>();
                if kind(&run.0) != kind(&right.0) || of(&run.3) != of(&right.3) {
                    open += 1;
                    continue;
                }
                let what = format!("{name} {} {}", formulation.name(), arrived.id);
                assert_eq!(kind(&arrived.end), kind(&run.0), "{what}");
                assert_eq!(of(&arrived.events), of(&run.3), "{what}");
                let bound = 1e-8 + 100.0 * (apart(&run.2, &right.2) + (run.1 - right.1).abs());
                let off = apart(&right.2, &arrived.x);
                assert!(off <= bound, "{what}: {off:.1e} {bound:.1e}");
                assert!((arrived.t - right.1).abs() <= bound, "{what}");
                for (own, right) in arrived.events.iter().zip(&right.3) {
                    assert!((own.0 - right.0).abs() <= bound, "{what}: {own:?} {right:?}");
                }
                count += 1;
                events += arrived.events.len();
                abreast += usize::from(arrived.served < 60);
            }
        }
        assert!(own > 0, "{name} is not moved abreast");
    }
    println!("{count} motions, {events} events; {abreast} mostly abreast, {open} open");
    assert!(count > 250 && events > 900 && open < 10);
}

/// Events and branches by a motion's own parameters.
#[test]
fn what_is_met_goes_by_own_parameters() {
    for (name, parameter, range) in
        [("floor", "e", 0.5..0.95), ("floor", "a", 0.0..0.3), ("gap", "k", 5.0..80.0)]
    {
        let text = MEETING.iter().find(|model| model.0 == name).expect("one").1;
        let model = load(&Input::text(name, text));
        let setting = Setting::new(&model).expect("values");
        let options = options(&setting, 1e-10);
        let program = Program::new(&setting, &options).expect("a program");
        let symbol = {
            let mut all = setting.model.system.parameters.iter();
            all.find(|own| own.name == parameter).expect("a parameter").symbol
        };
        assert!(program.depends_on(&[symbol]), "{parameter}");
        let mut random = Random::new(8);
        let motions: Vec<Departure> = (0..9)
            .map(|id| {
                let value = range.start + (range.end - range.start) * random.unit();
                let other = setting.with_all(&[(symbol, value)]).expect("values");
                let state = start::start(&other).expect("a start").state;
                Departure { id, state, setting: Some(other) }
            })
            .collect();
        let all = [1, 4, 8].map(|lanes| ends(&program, &options, lanes, &motions));
        for (id, motion) in motions.iter().enumerate() {
            let other = motion.setting.as_ref().expect("its own");
            let begin = start::start(other).expect("a start");
            let (end, t, q, events) = whole_run(other, &options, begin).expect("a run");
            for ends in &all {
                assert_eq!(bits(&ends[id]), bits(&all[0][id]), "{name} {parameter}");
                assert_eq!(kind(&ends[id].end), kind(&end), "{name} {parameter} {id}");
                assert_eq!(ends[id].events.len(), events.len(), "{name} {parameter} {id}");
                let off = apart(&q, &ends[id].x).max((ends[id].t - t).abs());
                assert!(off < 1e-7, "{name} {parameter} {id}: {off:.1e}");
            }
        }
    }
}

/// Singular positions are crossed by the driver, as often as on a run: none is passed inside of a
/// step.
#[test]
fn no_singular_position_is_passed_unseen() {
    let (mut count, mut crossed) = (0, 0);
    for (name, tolerance) in
        [("benchmarks/n-four-bar", 1e-10), ("benchmarks/n-four-bar", 1e-6), ("four-bar", 1e-8)]
    {
        let model = load(&Input::open(&format!("gallery:{name}")).expect("a page"));
        let setting = Setting::new(&model).expect("values");
        let options = options(&setting, tolerance);
        let program = Program::new(&setting, &options).expect("a program");
        if program.ensemble(&options, 1).expect("it suits").is_none() {
            continue;
        }
        let motions = around(&setting, 12, 19);
        for arrived in ends(&program, &options, 8, &motions) {
            let begin = Start {
                state: motions[arrived.id].state.clone(),
                ..start::start(&setting).expect("a start")
            };
            let go_on = &mut |_: &_| ControlFlow::Continue(());
            let Ok(report) = run::run_from(&setting, &options, begin, go_on) else { continue };
            if report.end != End::Finished {
                continue;
            }
            let own = report.certificate.rank_changes.len();
            assert_eq!(arrived.crossed, own, "{name} {tolerance:e} {}", arrived.id);
            count += 1;
            crossed += own;
        }
    }
    println!("{count} motions, {crossed} crossings");
    assert!(count > 15 && crossed > 30);
}
