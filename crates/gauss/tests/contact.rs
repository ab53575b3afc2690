//! Contacts and friction decided together, against all choices of modes tried one by one on the
//! problem as it stands.

mod common;

use common::Random;
use dalembert_gauss::contact::{
    Decision, ImpactError, Law, Mode, Slip, Space, Struck, Touch, Touches, Verdict, decide,
    decide::attempt, lemke::lemke, strike_in_turn, strike_together,
};
use dalembert_gauss::linalg::lu;
use dalembert_gauss::{DEFAULT, Terms};

/// A contact state that owns its numbers.
#[derive(Clone, Debug, Default)]
struct State {
    n: usize,
    metric: Vec<f64>,
    force: Vec<f64>,
    jacobian: Vec<f64>,
    bias: Vec<f64>,
    touches: Touches,
    list: Vec<Touch>,
}

impl State {
    fn terms(&self) -> Terms<'_> {
        Terms {
            n: self.n,
            m: self.bias.len(),
            metric: &self.metric,
            force: &self.force,
            nonideal: &[0.0; 16][..self.n],
            jacobian: &self.jacobian,
            bias: &self.bias,
            noise: None,
            inertia: &[],
            patterns: None,
        }
    }

    fn space(&self) -> Space {
        Space::new(&self.terms(), &self.touches, DEFAULT).unwrap()
    }

    /// A contact (with its slip, if it has friction) or a friction.
    fn add(&mut self, random: &mut Random, is_contact: bool, friction: Option<f64>) {
        let mut row = |state: &mut State| {
            state.touches.rows.push(random.vector(state.n));
            state.touches.bias.push(random.normal());
            state.touches.rows.len() - 1
        };
        let normal = is_contact.then(|| row(self));
        let slip = friction.is_some().then(|| row(self));
        let law = match (is_contact, friction) {
            (true, mu) => Law::Coefficient(mu.unwrap_or(0.0)),
            (false, bound) => Law::Bound(bound.unwrap_or(0.0)),
        };
        let moves = match random.below(4) {
            0 if friction.is_some() => Slip::Forwards,
            1 if friction.is_some() => Slip::Backwards,
            _ => Slip::None,
        };
        self.list.push(Touch { normal, slip, law, moves, must_slip: false, held: None });
    }
}

fn random_state(random: &mut Random) -> State {
    let n = 2 + random.below(5);
    let m = random.below(2.min(n - 1) + 1);
    let mut state = State { n, ..State::default() };
    let root = random.vector(n * n);
    state.metric = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let sum: f64 = (0..n).map(|k| root[i * n + k] * root[j * n + k]).sum();
            state.metric[i * n + j] = sum + if i == j { 0.3 } else { 0.0 };
        }
    }
    state.force = random.vector(n);
    state.jacobian = random.vector(n * m);
    state.bias = random.vector(m);
    let mut room = n - m;
    while room > 0 && state.list.len() < 4 {
        let friction = match random.below(3) {
            0 => None,
            _ => Some(0.2 + 1.2 * random.signed().abs()),
        };
        let is_contact = friction.is_none() || random.below(4) > 0;
        let size = usize::from(is_contact) + usize::from(friction.is_some());
        if size > room {
            if random.below(2) == 0 {
                break;
            }
            continue;
        }
        room -= size;
        state.add(random, is_contact, friction);
    }
    state
}

/// All motions of a state, by the whole problem: Γ, A and what is held in one matrix.
fn brute(state: &State) -> Vec<Vec<f64>> {
    let options: Vec<Vec<Mode>> = state.list.iter().map(Touch::modes).collect();
    let count: usize = options.iter().map(Vec::len).product();
    let (n, m) = (state.n, state.bias.len());
    let mut motions: Vec<Vec<f64>> = Vec::new();
    for mut which in 0..count {
        let modes: Vec<Mode> = options
            .iter()
            .map(|o| {
                let mode = o[which % o.len()];
                which /= o.len();
                mode
            })
            .collect();
        // Unknowns: v̇, λ, then N and T of what is held; each with its column and its row.
        let mut force = state.force.clone();
        let mut held: Vec<(usize, Vec<f64>)> = Vec::new();
        let row = |at: usize| state.touches.rows[at].clone();
        for (touch, mode) in state.list.iter().zip(&modes) {
            let way = if *mode == Mode::Forwards { 1.0 } else { -1.0 };
            match (touch.normal, *mode) {
                (_, Mode::Open) => {}
                (Some(normal), mode) => {
                    let mut column = row(normal);
                    if let (Some(slip), true) = (touch.slip, mode != Mode::Stick) {
                        let mu = touch.coefficient();
                        column.iter_mut().zip(row(slip)).for_each(|(c, w)| *c -= way * mu * w);
                    }
                    held.push((normal, column));
                    if mode == Mode::Stick {
                        let slip = touch.slip.unwrap();
                        held.push((slip, row(slip)));
                    }
                }
                (None, Mode::Stick) => {
                    let slip = touch.slip.unwrap();
                    held.push((slip, row(slip)));
                }
                (None, _) => {
                    let slip = row(touch.slip.unwrap());
                    force.iter_mut().zip(slip).for_each(|(f, w)| *f -= way * touch.bound() * w);
                }
            }
        }
        let size = n + m + held.len();
        let mut matrix = vec![0.0; size * size];
        let mut right = vec![0.0; size];
        for i in 0..n {
            matrix[i * size..i * size + n].copy_from_slice(&state.metric[i * n..(i + 1) * n]);
            right[i] = force[i];
            for j in 0..m {
                matrix[i * size + n + j] = -state.jacobian[j * n + i];
                matrix[(n + j) * size + i] = state.jacobian[j * n + i];
            }
            for (j, (at, column)) in held.iter().enumerate() {
                matrix[i * size + n + m + j] = -column[i];
                matrix[(n + m + j) * size + i] = row(*at)[i];
            }
        }
        right[n..n + m].copy_from_slice(&state.bias);
        for (j, (at, _)) in held.iter().enumerate() {
            right[n + m + j] = state.touches.bias[*at];
        }
        let mut order = vec![0; size];
        if !lu::factor(&mut matrix, size, &mut order) {
            continue;
        }
        lu::solve(&matrix, size, &order, &mut right, &mut vec![0.0; size]);
        let v = &right[..n];
        let load =
            |at: usize| held.iter().position(|h| h.0 == at).map_or(0.0, |j| right[n + m + j]);
        let rate = |at: usize| {
            row(at).iter().zip(v).map(|(a, b)| a * b).sum::<f64>() - state.touches.bias[at]
        };
        let holds = state.list.iter().zip(&modes).all(|(touch, mode)| {
            let way = if *mode == Mode::Forwards { 1.0 } else { -1.0 };
            let starts = |slip: usize| touch.moves != Slip::None || way * rate(slip) >= 0.0;
            match (touch.normal, *mode) {
                (Some(normal), Mode::Open) => rate(normal) >= 0.0,
                (None, Mode::Open) => false,
                (Some(normal), Mode::Stick) => {
                    let (n, t) = (load(normal), load(touch.slip.unwrap()));
                    n >= 0.0 && t.abs() <= touch.coefficient() * n
                }
                (None, Mode::Stick) => load(touch.slip.unwrap()).abs() <= touch.bound(),
                (Some(normal), _) => load(normal) >= 0.0 && touch.slip.is_none_or(starts),
                (None, _) => touch.slip.is_none_or(starts),
            }
        });
        let is_new = motions.iter().all(|other| apart(other, v) > 1e-7);
        if holds && is_new {
            motions.push(v.to_vec());
        }
    }
    motions
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().chain(b).fold(0f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0f64, |m, (a, b)| m.max((a - b).abs())) / size.max(f64::MIN_POSITIVE)
}

fn motions_of(space: &Space, decision: &Decision) -> Vec<Vec<f64>> {
    let of = |loads: &[f64]| -> Vec<f64> {
        space.v_dot.iter().zip(space.change(loads)).map(|(v, d)| v + d).collect()
    };
    decision.motions.iter().map(|ties| of(&ties[0].loads)).collect()
}

/// The same motions, and so the same verdict.
#[test]
fn decisions_agree_with_all_modes_tried() {
    let mut random = Random(19);
    let cases = std::env::var("DALEMBERT_CASES").ok().and_then(|c| c.parse().ok());
    let mut verdicts = [0; 3];
    for case in 0..cases.unwrap_or(10_000) {
        let state = random_state(&mut random);
        let wanted = brute(&state);
        let space = state.space();
        let decision = decide(&space, &state.list);
        let found = motions_of(&space, &decision);
        assert_eq!(found.len(), wanted.len(), "case {case}: {state:?}\n{decision:?}\n{wanted:?}");
        for one in &found {
            let near = wanted.iter().any(|w| apart(one, w) < 1e-7);
            assert!(near, "case {case}: {one:?} {wanted:?}");
        }
        let verdict = match wanted.len() {
            0 => Verdict::None,
            1 => Verdict::Unique,
            _ => Verdict::Several,
        };
        verdicts[wanted.len().min(2)] += 1;
        assert_eq!(decision.verdict, verdict, "case {case}");
        for found in decision.motions.iter().flatten() {
            complementary(&space, &state.list, &found.loads, &found.accelerations);
        }
    }
    // All three occur.
    assert!(verdicts.iter().all(|&v| v > 0), "{verdicts:?}");
}

/// Signorini's and Coulomb's laws in what was found, to rounding.
fn complementary(space: &Space, list: &[Touch], loads: &[f64], a: &[f64]) {
    let size = loads.iter().chain(&space.free).fold(0f64, |m, x| m.max(x.abs()));
    let small = 1e-11 * size;
    for touch in list {
        let bound = match touch.normal {
            Some(row) => {
                assert!(loads[row] >= 0.0 && a[row] >= -small);
                assert!(loads[row].min(a[row]) <= small, "{} {}", loads[row], a[row]);
                let slip = touch.slip.unwrap_or(row);
                space.coefficient(touch.coefficient(), row, slip) * loads[row]
            }
            None => touch.slip.map_or(0.0, |slip| space.scaled(slip, touch.bound())),
        };
        let Some(slip) = touch.slip else { continue };
        let force = loads[slip];
        assert!(force.abs() <= bound + small, "{force} {bound}");
        let way = match touch.moves {
            Slip::Forwards => 1.0,
            Slip::Backwards => -1.0,
            Slip::None if a[slip].abs() <= small => continue,
            Slip::None => a[slip].signum(),
        };
        assert!((force + way * bound).abs() <= small, "{force} {bound} {way}");
    }
}

/// A contact told twice bears its load twice over, and nothing moves otherwise.
#[test]
fn contacts_may_depend_on_each_other() {
    let mut random = Random(7);
    let mut open = 0;
    for case in 0..500 {
        let state = random_state(&mut random);
        let Some(at) = state.list.iter().position(|t| t.normal.is_some()) else { continue };
        let mut twice = state.clone();
        let mut copy = state.list[at];
        let mut again = |row: usize| {
            twice.touches.rows.push(state.touches.rows[row].clone());
            twice.touches.bias.push(state.touches.bias[row]);
            twice.touches.rows.len() - 1
        };
        copy.normal = copy.normal.map(&mut again);
        copy.slip = copy.slip.map(&mut again);
        twice.list.push(copy);
        let (one, two) = (state.space(), twice.space());
        let (a, b) = (decide(&one, &state.list), decide(&two, &twice.list));
        assert_eq!(a.verdict, b.verdict, "case {case}");
        let (wanted, found) = (motions_of(&one, &a), motions_of(&two, &b));
        for motion in &found {
            assert!(wanted.iter().any(|w| apart(w, motion) < 1e-7), "case {case}");
        }
        let row = state.list[at].normal.unwrap();
        let bears = a.motions.iter().flatten().any(|f| f.loads[row] > 1e-3);
        if bears && a.motions.len() == 1 {
            assert!(b.motions[0].iter().any(|f| f.open[row]), "case {case}: {:?}", b.motions);
            assert!(!b.loads_are_unique());
            open += 1;
        }
    }
    assert!(open > 50, "{open}");
}

/// Lemke's modes are a solution wherever nothing slips yet.
#[test]
fn pivoting_finds_what_enumeration_finds() {
    let mut random = Random(3);
    for case in 0..3000 {
        let mut state = random_state(&mut random);
        state.list.iter_mut().for_each(|t| t.moves = Slip::None);
        let space = state.space();
        let decision = decide(&space, &state.list);
        assert!(!decision.motions.is_empty(), "case {case}");
        let modes = lemke(&space, &state.list).unwrap_or_else(|| panic!("case {case}: a ray"));
        let found = attempt(&space, &state.list, &modes);
        assert!(found.is_some(), "case {case}: {modes:?} {decision:?}");
    }
}

/// Many contacts, too many to try all: a heap in which nothing depends on friction is decided, and
/// with friction something is found that holds.
#[test]
fn many_contacts_are_decided() {
    let mut random = Random(11);
    for case in 0..20 {
        let n = 14;
        let mut state = State { n, metric: vec![0.0; n * n], ..State::default() };
        (0..n).for_each(|i| state.metric[i * n + i] = 0.5 + random.signed().abs());
        state.force = random.vector(n);
        for _ in 0..15 {
            state.add(&mut random, true, (case % 2 == 0).then_some(0.3));
        }
        // Loads in balance by themselves must not be asked to do work.
        state.touches.bias.fill(0.0);
        state.list.iter_mut().for_each(|t| t.moves = Slip::None);
        let space = state.space();
        let decision = decide(&space, &state.list);
        assert!(!decision.motions.is_empty(), "case {case}: {:?}", lemke(&space, &state.list));
        let found = &decision.motions[0][0];
        complementary(&space, &state.list, &found.loads, &found.accelerations);
        let wanted = if case % 2 == 0 { Verdict::Found } else { Verdict::Unique };
        assert!(decision.verdict == wanted || decision.verdict == Verdict::Several, "{case}");
    }
}

/// A rod of mass 1 and half length 1 whose end slides: its normal acceleration is
/// p + N (1 + 3 c (c − μ s)) with c = cos θ, s = sin θ. (Painlevé 1895; Génot & Brogliato 1999.)
#[test]
fn painleves_rod() {
    let rod = |theta: f64, mu: f64, omega: f64| {
        let (s, c) = theta.sin_cos();
        // q = (x, y, θ) of the center; the end at (x − c, y − s) slides to the left.
        let mut state = State { n: 3, ..State::default() };
        state.metric = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 / 3.0];
        state.force = vec![0.0, -9.81, 0.0];
        state.touches.rows = vec![vec![0.0, 1.0, -c], vec![1.0, 0.0, s]];
        state.touches.bias = vec![-s * omega * omega, -c * omega * omega];
        state.list = vec![Touch {
            normal: Some(0),
            slip: Some(1),
            law: Law::Coefficient(mu),
            moves: Slip::Backwards,
            must_slip: false,
            held: None,
        }];
        let space = state.space();
        decide(&space, &state.list)
    };
    let theta: f64 = 1.2;
    let (s, c) = theta.sin_cos();
    let factor = |mu: f64| 1.0 + 3.0 * c * (c - mu * s);
    // Little friction: one motion, in contact.
    let calm = rod(theta, 0.3, 0.0);
    assert!(factor(0.3) > 0.0);
    assert_eq!(calm.verdict, Verdict::Unique);
    assert!(calm.motions[0][0].loads[0] > 0.0);
    // Much: none while it falls, two (it slides, it takes off) where it swings up fast enough.
    assert!(factor(2.5) < 0.0);
    assert_eq!(rod(theta, 2.5, 0.0).verdict, Verdict::None);
    let several = rod(theta, 2.5, 5.0);
    assert_eq!(several.verdict, Verdict::Several);
    assert_eq!(several.motions.len(), 2);
}

/// Newton's cradle: in turn the last ball flies off; together they share.
#[test]
fn the_cradle() {
    let n = 4;
    let mut state = State { n, metric: vec![0.0; n * n], ..State::default() };
    (0..n).for_each(|i| state.metric[i * n + i] = 1.0);
    state.force = vec![0.0; n];
    for i in 0..n - 1 {
        let mut row = vec![0.0; n];
        (row[i], row[i + 1]) = (-1.0, 1.0);
        state.touches.rows.push(row);
        state.touches.bias.push(0.0);
        let touch = Touch {
            normal: Some(i),
            slip: None,
            law: Law::Coefficient(0.0),
            moves: Slip::None,
            must_slip: false,
            held: None,
        };
        state.list.push(touch);
    }
    let struck: Vec<Struck> =
        state.list.iter().map(|&touch| Struck { touch, restitution: 1.0 }).collect();
    let space = state.space().with_free(&[-1.0, 0.0, 0.0], &[1.0, 0.0, 0.0]);
    let velocities = |loads: &[f64]| -> Vec<f64> {
        let mut v = space.change(loads);
        v[0] += 1.0;
        v
    };
    let turn = strike_in_turn(&space, &struck).unwrap();
    for (v, wanted) in velocities(&turn.loads).iter().zip([0.0, 0.0, 0.0, 1.0]) {
        assert!((v - wanted).abs() < 1e-14, "{turn:?}");
    }
    assert!(turn.energy.abs() < 1e-14);
    // Moreau: the first bounces back, the others go on together, (−½, ½, ½, ½).
    let together = strike_together(&space, &struck).unwrap();
    for (v, wanted) in velocities(&together.loads).iter().zip([-0.5, 0.5, 0.5, 0.5]) {
        assert!((v - wanted).abs() < 1e-14, "{:?}", velocities(&together.loads));
    }
    assert!(together.energy.abs() < 1e-14);
    // Without restitution both end alike.
    let soft: Vec<Struck> = struck.iter().map(|s| Struck { restitution: 0.0, ..*s }).collect();
    let (a, b) = (strike_in_turn(&space, &soft).unwrap(), strike_together(&space, &soft).unwrap());
    for (a, b) in velocities(&a.loads).iter().zip(velocities(&b.loads)) {
        assert!((a - b).abs() < 1e-12 && (b - 0.25).abs() < 1e-12, "{a} {b}");
    }
    assert!((b.energy + 0.375).abs() < 1e-12);
}

/// Without restitution no impact gains energy, with any friction; nor with equal restitution where
/// there is none.
#[test]
fn impacts_lose_energy() {
    let mut random = Random(5);
    for case in 0..2000 {
        let mut state = random_state(&mut random);
        state.list.iter_mut().for_each(|t| t.moves = Slip::None);
        let rows = state.touches.rows.len();
        let before = random.vector(rows);
        let space = state.space().with_free(&before, &vec![1.0; rows]);
        let has_friction = state.list.iter().any(|t| t.coefficient() > 0.0);
        let e = if has_friction { 0.0 } else { random.signed().abs() };
        let struck: Vec<Struck> =
            state.list.iter().map(|&touch| Struck { touch, restitution: e }).collect();
        // Much friction may leave several outcomes, never none.
        let impact = match strike_together(&space, &struck) {
            Ok(impact) => impact,
            Err(ImpactError::Several(_)) => continue,
            Err(error) => panic!("case {case}: {error:?}"),
        };
        let size: f64 = space.free.iter().map(|v| v * v).sum();
        assert!(impact.energy <= 1e-12 * size, "case {case}: {impact:?}");
        for touch in &state.list {
            let Some(row) = touch.normal else { continue };
            assert!(impact.after[row] + e * space.free[row] >= -1e-11 * size.sqrt());
        }
    }
}

/// A rod along x on three points that stick, one of them in the middle: a force across it may be borne by
/// the one in the middle, or by those at the ends together, so that none of the loads is the only one.
#[test]
fn loads_that_others_bear_together_are_open() {
    let n = 2;
    let mut state =
        State { n, metric: vec![1.0, 0.0, 0.0, 1.0], force: vec![3.0, 0.0], ..State::default() };
    for arm in [0.0, 1.0, -1.0] {
        state.touches.rows.push(vec![1.0, arm]);
        state.touches.bias.push(0.0);
        let row = state.touches.rows.len() - 1;
        state.list.push(Touch {
            normal: None,
            slip: None,
            law: Law::Bound(1.0),
            moves: Slip::None,
            must_slip: false,
            held: Some((row, row + 1)),
        });
    }
    let space = state.space();
    let decision = decide(&space, &state.list);
    assert_eq!(decision.motions.len(), 1);
    assert!(decision.motions[0][0].open.iter().all(|open| *open), "{:?}", decision.motions);
}
