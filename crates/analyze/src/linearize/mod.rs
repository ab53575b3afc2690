//! Equilibria and steady motions, and the linear equations about them.
//!
//! [`linearize`] looks for an equilibrium or a steady motion near the start of a model, with all
//! constraints respected, and linearises the equations of motion about it:
//!
//! ```text
//! δẋ = S δx   on the states that satisfy the constraints, in free coordinates of the model
//! ```
//!
//! with its spectrum, the zeros told apart from the modes, and what follows for stability. The
//! equations are in `rates`, the steady motions that symmetries make possible in [`symmetry`],
//! the reduction in [`reduce`], inputs and outputs in [`outputs`] and [`control`], any other state
//! than a steady one in [`local`], periodic motions in [`floquet`](mod@floquet), the matrices as
//! expressions in [`symbolic`](mod@symbolic), all equilibria of a box in
//! [`within`], the spectrum in [`spectrum`], the verdict in [`verdict`].
//!
//! ```
//! use dalembert_analyze::linearize::{Kind, Stability, linearize};
//! use dalembert_model::load::{Syntax, load};
//! use dalembert_model::resolve::Limits;
//! use dalembert_simulate::Setting;
//! // A pendulum in Cartesian coordinates: all of its stiffness comes from the rod's force.
//! let text = "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9*y
//!     constraint rod: x^2 + y^2 = 1
//!     start x ~ 0.3, y ~ -1";
//! let loaded = load("pendulum", text, Syntax::Plain, &[], Limits::default());
//! let model = loaded.model.expect("no faults");
//! let setting = Setting::new(&model).expect("no parameters");
//! let found = linearize(&setting).expect("it hangs");
//! assert_eq!(found.kind, Kind::Equilibrium);
//! assert!((found.state.q[1] + 1.0).abs() < 1e-12);
//! assert!((found.spectrum.modes[0].value[1] - 3.0).abs() < 1e-12);
//! assert_eq!(found.stability, Stability::Stable);
//! ```
//!
//! Fails, with a reason, where there is no unique motion, where the rank of the constraints
//! drops, and where time occurs in another way than as uniform driving.

pub mod control;
mod curved;
pub mod eigen;
pub mod error;
pub mod floquet;
pub mod local;
mod operating;
pub mod outputs;
mod phase;
mod rates;
pub mod reduce;
mod search;
mod solve;
pub mod spectrum;
mod steady;
pub mod symbolic;
pub mod symmetry;
pub mod verdict;
pub mod within;

pub use control::{Channel, Control, Part};
pub use eigen::Complex;
pub use error::{LinearizeError, NotFound};
pub use floquet::{Floquet, Orbit, floquet};
pub use local::{Local, linearize_along, linearize_here};
pub use outputs::InputOutput;
pub use reduce::Reduced;
pub use spectrum::{Mode, Spectrum};
pub use symbolic::{NotSymbolic, Symbolic, symbolic};
pub use symmetry::{Symmetries, Symmetry};
pub use verdict::{Stability, Undecided};
pub use within::{Side, Within, equilibria_within};

use crate::watch::Watch;
use curved::{Along, Curved};
use dalembert_expr::{ExprId, Symbol};
use dalembert_gauss::linalg::svd::Svd;
use dalembert_gauss::linalg::{dot, largest, multiply, norm};
use dalembert_model::system::Level;
use dalembert_simulate::phases::Here;
use dalembert_simulate::points::random_states;
use dalembert_simulate::start::{self, Guess, Start};
use dalembert_simulate::{Setting, State};
use operating::Operating;
use outputs::Outputs;
use rates::{Point, Rates};
use reduce::Tangents;
use search::{Missed, Search};
use steady::{Attempt, Fit, Given, Held, STEADY};

/// What was found.
#[derive(Clone, Debug)]
pub struct Linearization {
    /// An equilibrium or a steady motion.
    pub kind: Kind,
    /// The state.
    pub state: State,
    /// The multipliers, of least norm.
    pub multipliers: Vec<f64>,
    /// Constraints whose multiplier is not unique.
    pub indeterminate: Vec<bool>,
    /// Whether the start (or the state asked for) is itself steady.
    pub at_start: bool,
    /// What differs from the start: name, there, here.
    pub moved: Vec<(String, f64, f64)>,
    /// The `=` of the start that could not be kept.
    pub released: Vec<String>,
    /// The symmetry that carries the motion along itself; nothing moves at an equilibrium.
    pub along: Symmetry,
    /// The symmetries of the system.
    pub symmetries: Symmetries,
    /// The linear system.
    pub reduced: Reduced,
    /// Its second-order form, in a model given by T and V (or L) without constraints among
    /// accelerations.
    pub second_order: Option<SecondOrder>,
    /// The spectrum.
    pub spectrum: Spectrum,
    /// How many dimensions the manifold of neighbouring steady states has, up to symmetries;
    /// `None` if the zeros are not explained by one, or something grows and it was not asked.
    pub family: Option<usize>,
    /// Whether the potential has a strict minimum here that shows stability.
    pub minimum: bool,
    /// What follows for stability.
    pub stability: Stability,
    /// B, C and D.
    pub io: InputOutput,
    /// Zeros, and what no input moves or no output shows.
    pub control: Control,
    /// The phase of contacts and friction that it is in, if there are any.
    pub phase: Option<Here>,
}

/// What kind of state it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing moves.
    Equilibrium,
    /// It moves, and a symmetry carries the motion along itself.
    SteadyMotion,
}

impl Kind {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Equilibrium => "equilibrium",
            Kind::SteadyMotion => "steady motion",
        }
    }
}

/// 𝖬 u̇ + 𝖣 u + 𝖪 z = 0 in the free velocities u and coordinates z.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondOrder {
    /// 𝖬 = NᵀΓN, by u and u.
    pub mass: Vec<f64>,
    /// 𝖣, by u and u.
    pub damping: Vec<f64>,
    /// 𝖪, by u and z.
    pub stiffness: Vec<f64>,
}

/// The equilibrium or steady motion near the start of a model, or near the state asked for beside
/// it, and the linear equations about it.
pub fn linearize(setting: &Setting) -> Result<Linearization, LinearizeError> {
    linearize_watched(setting, &Watch::nobody())
}

/// The same, watched: the caller hears what is being done, and may end it.
pub fn linearize_watched(
    setting: &Setting,
    watch: &Watch,
) -> Result<Linearization, LinearizeError> {
    let phase = match setting.model.system.wants_phase() {
        true => {
            watch.on("looking for a consistent start")?;
            phase::of(setting, &begin(setting)?.state)?
        }
        false => None,
    };
    let setting = phase.as_ref().map_or(setting, |here| &here.setting);
    let system = &setting.model.system;
    watch.on("deriving the equations and their slopes")?;
    let Operating { closed, open, held } = &Operating::new(setting);
    let setting = closed;
    let rates = Rates::new(open)?;
    watch.on("looking for a consistent start")?;
    let start = begin(setting)?;
    let points = sample(setting, &rates, &start, watch)?;
    let symmetries = if points.len() >= symmetry::states_needed(rates.n) {
        symmetry::find(&rates, &points)
    } else {
        known(&rates, &points)
    };
    let Some(with) = symmetries.with_time.clone() else {
        let constraints = system.constraints.iter().enumerate();
        let constraints = constraints.filter(|c| !c.1.scleronomic).map(|c| c.0).collect();
        return Err(LinearizeError::TimeDependent { constraints });
    };
    let own = rates.at(&start.state);
    let Some(near) = own.as_ref().ok().or(points.first()) else {
        return Err(own.err().unwrap_or(LinearizeError::NoEigenvalues));
    };
    let search = Search::new(&rates, &symmetries, &with, near);
    let mut found = find(&rates, &symmetries, &with, &search, &start, &points, watch)?;
    if !rates.is_smooth(&found.point) {
        let state = Box::new(found.point.state);
        return Err(LinearizeError::NotSmooth { state });
    }
    settle(&rates, &mut found.point, &points);
    if let Some(here) = &phase {
        phase::check(here, &found.point)?;
    }
    let tangents = Tangents::new(&rates, &found.point)?;
    watch.on("computing the modes")?;
    let (point, fit) = (&found.point, &found.fit);
    let bend = found.curved.as_ref().map(|c| c.1.bend.as_slice());
    let reduced = reduce::reduce(&rates, point, &tangents, &fit.along, bend)?;
    let here = found.curved.as_ref().map_or(&symmetries, |c| &c.1.symmetries);
    let orbit: Vec<Vec<f64>> = here
        .others
        .iter()
        .map(|s| {
            let still = vec![0.0; reduced.states];
            [s.moved(&point.state.q), still, s.turned(&point.v)].concat()
        })
        .collect();
    let (sizes, sizes_v) = steady::scales(&rates, point);
    let spectrum = spectrum::spectrum(&reduced, &orbit, &sizes)?;
    let rest = with == Symmetry::rest(rates.n);
    let kind =
        if fit.along == Symmetry::rest(rates.n) { Kind::Equilibrium } else { Kind::SteadyMotion };
    let second = second_order(&rates, point, &reduced);
    let outputs = Outputs::new(&rates);
    let mut io = InputOutput::new(&rates, &outputs, point, &tangents, &reduced)?;
    io.look_along(&rates, &outputs, point, &tangents, &reduced, &fit.along);
    io.held.clone_from(held);
    let control = Control::new(&reduced, &io);
    let minimum = kind == Kind::Equilibrium
        && verdict::is_minimum(&setting.model, rest, &reduced, second.as_ref(), &spectrum);
    // Where something grows the zeros do not matter any more.
    let of_states = &reduced.scales[reduced.dimension() - reduced.states..];
    let sizes = [&sizes, of_states, &sizes_v].concat();
    let family = || match &found.curved {
        Some((curved, _)) => curved.is_family(&rates, point, &symmetries, &with, &spectrum, &sizes),
        None => is_family(&rates, &search, &symmetries, &found, &spectrum, &sizes),
    };
    let explained = spectrum.zeros.is_empty()
        || !matches!(verdict::verdict(&spectrum, minimum, true), Stability::Unstable { .. })
            && family();
    let stability = verdict::verdict(&spectrum, minimum, explained);
    Ok(Linearization {
        kind,
        multipliers: point.outcome.multipliers.clone(),
        indeterminate: point.outcome.indeterminate.clone(),
        at_start: found.at_start,
        moved: changes(setting, &start.state, &point.state),
        released: found.released.clone(),
        second_order: second,
        family: explained.then(|| spectrum.zeros.first().copied().unwrap_or(0)),
        state: point.state.clone(),
        // A curved field is shown by what it does here.
        along: match &found.curved {
            Some(_) => Symmetry { shift: point.state.velocity.clone(), ..Symmetry::rest(rates.n) },
            None => fit.along.clone(),
        },
        symmetries,
        reduced,
        spectrum,
        minimum,
        stability,
        io,
        control,
        phase,
    })
}

/// The state to look from: the consistent start, or one near the state asked for.
fn begin(setting: &Setting) -> Result<Start, LinearizeError> {
    let system = &setting.model.system;
    if system.state.is_empty() {
        return start::start(setting).map_err(LinearizeError::Start);
    }
    let asked = State::of_items(setting, &system.state).map_err(LinearizeError::Legendre)?;
    let by_momenta = steady::by_momenta(setting);
    let rate = if by_momenta { asked.momentum } else { asked.velocity };
    let guess = Guess { q: asked.q, rate, by_momenta };
    start::from(setting, asked.t, &guess, false).map_err(LinearizeError::Start)
}

/// Random states on the constraints, and the slopes there.
fn sample(
    setting: &Setting,
    rates: &Rates,
    start: &Start,
    watch: &Watch,
) -> Result<Vec<Point>, LinearizeError> {
    let needed = symmetry::states_needed(rates.n);
    let mut failed = None;
    let mut points = Vec::new();
    for state in random_states(setting, start, needed, 1) {
        watch.on("looking for symmetries")?;
        match rates.at(&state) {
            Ok(point) => points.push(point),
            Err(error) => failed = Some(error),
        }
    }
    match (points.is_empty(), failed) {
        (true, Some(error)) => Err(error),
        _ => Ok(points),
    }
}

/// What is certain without states to try: nothing but time, if it does not occur.
fn known(rates: &Rates, points: &[Point]) -> Symmetries {
    let roots: Vec<ExprId> = rates.equations.roots();
    let timeless = !rates.setting.model.exprs.symbols_of(&roots).contains(&Symbol::TIME);
    let with_time = timeless.then(|| Symmetry::rest(rates.n));
    Symmetries { with_time, others: Vec::new(), points: points.len() }
}

struct Found {
    point: Point,
    fit: Fit,
    at_start: bool,
    released: Vec<String>,
    /// The motion along fields that are not affine, if it is one.
    curved: Option<(Curved, Along)>,
}

/// The start itself if it is steady, else the nearest state that is.
fn find(
    rates: &Rates,
    symmetries: &Symmetries,
    with: &Symmetry,
    search: &Search,
    start: &Start,
    points: &[Point],
    watch: &Watch,
) -> Result<Found, LinearizeError> {
    let setting = rates.setting;
    let from = start;
    let start = &start.state;
    let given = steady::given(setting);
    let own = rates.at(start);
    let mut amounts = vec![0.0; symmetries.others.len()];
    let mut multipliers = vec![0.0; rates.m];
    if let Ok(point) = own {
        let fit = steady::fit(rates, &point, symmetries, with, start);
        let kept = given.iter().all(|g| holds(rates, g, &point, start));
        if fit.residual <= STEADY && kept {
            regular(&point, points)?;
            let released = Vec::new();
            return Ok(Found { point, fit, at_start: true, released, curved: None });
        }
        let curved = Curved::new(rates, from, watch)?;
        if let Some(along) = curved.steady(rates, &point, symmetries, with, start).filter(|_| kept)
        {
            regular(&point, points)?;
            let (fit, released) = (along.fit.clone(), Vec::new());
            let curved = Some((curved, along));
            return Ok(Found { point, fit, at_start: true, released, curved });
        }
        amounts = steady::carried(rates, &point, symmetries, with, start);
        multipliers.clone_from(&point.outcome.multipliers);
    }
    let shifted: Vec<Symbol> = (0..rates.n)
        .filter(|&i| symmetries.others.iter().any(|s| s.is_shift() && s.shift[i] != 0.0))
        .map(|i| setting.model.system.coordinates[i].velocity)
        .collect();
    let mut missed: Option<Box<Missed>> = None;
    let mut singular: Option<LinearizeError> = None;
    let mut tried: Vec<(Vec<String>, bool)> = Vec::new();
    for attempt in attempts(start, symmetries) {
        let held: Vec<&Given> =
            given.iter().filter(|g| attempt.holds(g, &shifted, setting)).collect();
        let names: Vec<String> = held.iter().map(|g| g.text.clone()).collect();
        if tried.contains(&(names.clone(), attempt.rest)) {
            continue;
        }
        tried.push((names.clone(), attempt.rest));
        watch.on("looking for an equilibrium or a steady motion")?;
        match search.find(start, &multipliers, &amounts, &held, attempt.rest) {
            Ok(state) => {
                let there = rates.at(&state).and_then(|p| regular(&p, points).map(|()| p));
                let point = match there {
                    Ok(point) => point,
                    Err(error) => {
                        singular = singular.or(Some(error));
                        continue;
                    }
                };
                let fit = steady::fit(rates, &point, symmetries, with, start);
                if fit.residual > STEADY.sqrt() {
                    continue;
                }
                let released = given.iter().filter(|g| !holds(rates, g, &point, start));
                let released = released.map(|g| g.text.clone()).collect();
                return Ok(Found { point, fit, at_start: false, released, curved: None });
            }
            Err(left) => {
                if missed.as_ref().is_none_or(|m| left.size <= m.size || attempt.rest) {
                    missed = Some(left);
                }
            }
        }
    }
    if let Some(error) = singular {
        return Err(error);
    }
    let free = |i: usize| {
        let touches = |s: &Symmetry| {
            s.shift[i] != 0.0 || (0..rates.n).any(|j| s.turn[i * rates.n + j] != 0.0)
        };
        symmetries.others.iter().any(touches)
    };
    let moving = (0..rates.n).filter(|&i| start.velocity[i] != 0.0 && !free(i)).collect();
    let mut missed = missed.unwrap_or_else(|| Box::new(Missed::nothing()));
    if let Some(state) = missed.state.as_ref().filter(|_| missed.broken.is_empty()) {
        // What the search could not get rid of is spread over all equations; what pushes is
        // Γ(v̇ − B v), with the constraint forces that belong to it.
        if let Ok(point) = rates.at(state) {
            let along = steady::fit(rates, &point, symmetries, with, start).along;
            let turned = along.turned(&point.v);
            let left: Vec<f64> =
                point.outcome.v_dot.iter().zip(turned).map(|(a, b)| a - b).collect();
            let mut push = vec![0.0; rates.n];
            multiply(&point.numbers.metric, rates.n, &left, &mut push);
            let size = largest(&push);
            push.iter_mut().filter(|x| x.abs() <= 1e-12 * size).for_each(|x| *x = 0.0);
            missed.push = push;
        }
    }
    Err(LinearizeError::NotFound(Box::new(NotFound {
        nearest: missed.state,
        push: missed.push,
        broken: missed.broken,
        residual: missed.size,
        moving,
    })))
}

/// Whether the equations are as regular at a state as at others: the constraints have their
/// usual rank, and no mass vanishes (as at the pole of an angle) along what they leave free.
fn regular(point: &Point, points: &[Point]) -> Result<(), LinearizeError> {
    let state = || Box::new(point.state.clone());
    let nearby = points.iter().map(|p| p.outcome.rank.jacobian).max().unwrap_or(0);
    let rank = point.outcome.rank.jacobian;
    if rank < nearby {
        return Err(LinearizeError::Singular { rank, nearby, state: state() });
    }
    let n = point.v.len();
    // Coordinates in units of their usual masses.
    let usual =
        |i: usize| points.iter().fold(0f64, |m, p| m.max(p.numbers.metric[i * n + i].abs()));
    let units: Vec<f64> = (0..n)
        .map(|i| usual(i).sqrt())
        .map(|root| if root > 0.0 { 1.0 / root } else { 1.0 })
        .collect();
    let (least, along) = least_mass(point, &units);
    let usually = points.iter().map(|p| least_mass(p, &units).0).fold(0f64, f64::max);
    if least < 1e-12 * usually {
        let size = |i: &usize| along[*i].abs();
        let coordinate = (0..n).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap_or(0);
        return Err(LinearizeError::Vanishing { coordinate, state: state() });
    }
    Ok(())
}

/// The least mass along what the constraints leave free, and the direction that has it.
fn least_mass(point: &Point, units: &[f64]) -> (f64, Vec<f64>) {
    let n = units.len();
    let mut rows = point.numbers.jacobian.clone();
    for row in rows.chunks_exact_mut(n.max(1)) {
        row.iter_mut().zip(units).for_each(|(a, u)| *a *= u);
        let length = norm(row);
        row.iter_mut().filter(|_| length > 0.0).for_each(|a| *a /= length);
    }
    let height = rows.len().checked_div(n).unwrap_or(0).max(n);
    rows.resize(height * n, 0.0);
    let mut svd = Svd::default();
    svd.decompose(&rows, height, n);
    let rank = point.outcome.rank.jacobian.min(n);
    let free = &svd.v[rank * n..];
    let metric: Vec<f64> =
        (0..n * n).map(|k| point.numbers.metric[k] * units[k / n] * units[k % n]).collect();
    let count = n - rank;
    let mut masses = Svd::default();
    masses.decompose(&eigen::project(&metric, n, free), count, count);
    let Some(&least) = masses.sigma.last() else { return (f64::INFINITY, vec![0.0; n]) };
    let weights = &masses.v[(count - 1) * count..];
    let along = (0..n).map(|i| (0..count).map(|k| weights[k] * free[k * n + i]).sum()).collect();
    (least, along)
}

/// A slope that vanishes at a state, up to what a search leaves, is none: at a double root it
/// would be taken for a weak spring. It is compared with itself at the other states.
fn settle(rates: &Rates, point: &mut Point, points: &[Point]) {
    let (blocks, width) = (rates.blocks(), point.columns());
    for k in blocks.balance * width..blocks.binding * width {
        let usual = points.iter().fold(0f64, |m, p| m.max(p.slopes[k].abs()));
        if point.slopes[k].abs() <= 1e-13 * usual {
            point.slopes[k] = 0.0;
        }
    }
}

/// What is tried, in this order: as much of the start as possible is kept.
fn attempts(start: &State, symmetries: &Symmetries) -> Vec<Attempt> {
    let attempt = |positions, velocities, rest| Attempt { positions, velocities, rest };
    let mut list = Vec::new();
    if start.velocity.iter().any(|&v| v != 0.0) && !symmetries.others.is_empty() {
        list.push(attempt(true, Held::All, false));
        list.push(attempt(false, Held::All, false));
        list.push(attempt(false, Held::Shifts, false));
        list.push(attempt(false, Held::None, false));
    }
    list.push(attempt(true, Held::None, true));
    list.push(attempt(false, Held::None, true));
    list
}

/// Whether an `=` holds at a point, up to rounding of the coordinates it is made of, in their
/// natural sizes.
fn holds(rates: &Rates, given: &Given, point: &Point, start: &State) -> bool {
    const ROUNDING: f64 = 1e-12;
    let setting = rates.setting;
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let table = point.state.table(system);
    let values = setting.evaluate(&[given.left, given.right], &table);
    let (a, b) = (values[0], values[1]);
    let variables = [system.positions(), system.velocities(), system.momenta()].concat();
    let off = (exprs.at(given.left) - exprs.at(given.right)).id;
    let slopes = exprs.jacobian(&[off], &variables);
    let entries: Vec<ExprId> = slopes.rows[0].iter().map(|e| e.1).collect();
    let slopes = slopes.rows[0].iter().map(|e| e.0).zip(setting.numbers(&entries, &table));
    let sizes = steady::reach(rates, point, start);
    let size = slopes.fold(a.value.abs().max(b.value.abs()), |m, (j, s)| m + (s * sizes[j]).abs());
    (a.value - b.value).abs() <= 64.0 * (a.noise + b.noise) + ROUNDING * size
}

/// What differs between two states.
fn changes(setting: &Setting, from: &State, to: &State) -> Vec<(String, f64, f64)> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let pairs = from.named(exprs, system).into_iter().zip(to.named(exprs, system));
    let largest =
        |state: &State| state.q.iter().chain(&state.velocity).fold(0f64, |m, x| m.max(x.abs()));
    let size = largest(from).max(largest(to));
    pairs
        .map(|((name, a), (_, b))| (name, a, b))
        .filter(|(_, a, b)| (a - b).abs() > 1e-12 * size)
        .collect()
}

/// Whether the zeros across the symmetries come from neighbouring steady states: a small step
/// along all of them has one near its end.
fn is_family(
    rates: &Rates,
    search: &Search,
    symmetries: &Symmetries,
    found: &Found,
    spectrum: &Spectrum,
    sizes: &[f64],
) -> bool {
    let wide = rates.wide;
    let point = &found.point;
    let length = |x: &[f64]| length(x, sizes);
    let here = [point.state.q.clone(), point.v.clone()].concat();
    let step = neutral_step(spectrum, point, sizes, 1e-3);
    let there: Vec<f64> = here.iter().zip(&step).map(|(x, s)| x + s).collect();
    let (q, own) = (there[..wide].to_vec(), there[wide..].to_vec());
    let state = if steady::by_momenta(rates.setting) {
        State::of_momenta(rates.setting, point.state.t, q, own)
    } else {
        State::of_velocities(rates.setting, point.state.t, q, own)
    };
    let Ok(state) = state else { return false };
    let rest = symmetries.others.is_empty();
    let Ok(displaced) = rates.at(&state) else { return false };
    let amounts = steady::carried(rates, &displaced, symmetries, search.with(), &point.state);
    let result = search.find(&state, &point.outcome.multipliers, &amounts, &[], rest);
    let Ok(near) = result else { return false };
    let own = if steady::by_momenta(rates.setting) { near.momentum } else { near.velocity };
    let off: Vec<f64> = [near.q, own].concat().iter().zip(&there).map(|(a, b)| a - b).collect();
    length(&off) < 0.3 * length(&step)
}

/// A step along all neutral directions at once, this part of the state's own size.
fn neutral_step(spectrum: &Spectrum, point: &Point, sizes: &[f64], part: f64) -> Vec<f64> {
    let mut step = vec![0.0; sizes.len()];
    for (k, direction) in spectrum.neutral.iter().enumerate() {
        let size = length(direction, sizes).max(f64::MIN_POSITIVE);
        // Weights that no accident makes special.
        let weight = (1.0 + 0.37 * k as f64).cos() / size;
        step.iter_mut().zip(direction).for_each(|(s, d)| *s += weight * d);
    }
    let size = length(&[point.state.q.clone(), point.v.clone()].concat(), sizes);
    let size = if size > 0.0 { size } else { 1.0 };
    let reach = part * size / length(&step, sizes).max(f64::MIN_POSITIVE);
    step.iter_mut().for_each(|s| *s *= reach);
    step
}

/// The length of (δq, states, δv) in natural sizes.
fn length(x: &[f64], sizes: &[f64]) -> f64 {
    x.iter().zip(sizes).map(|(x, s)| (x / s).powi(2)).sum::<f64>().sqrt()
}

/// 𝖬, 𝖣 and 𝖪.
fn second_order(rates: &Rates, point: &Point, reduced: &Reduced) -> Option<SecondOrder> {
    let constraints = &rates.setting.model.system.constraints;
    let plain = constraints.iter().all(|c| c.level != Level::Acceleration);
    if !plain || steady::by_momenta(rates.setting) || reduced.states > 0 {
        return None;
    }
    let n = rates.n;
    let (nz, nu, d) = (reduced.positions.len(), reduced.velocities.len(), reduced.dimension());
    let basis: Vec<&[f64]> = reduced.tangent[nz..].iter().map(|t| &t[n..]).collect();
    let mut mass = vec![0.0; nu * nu];
    let mut image = vec![0.0; n];
    for j in 0..nu {
        multiply(&point.numbers.metric, n, basis[j], &mut image);
        (0..nu).for_each(|i| mass[i * nu + j] = dot(basis[i], &image));
    }
    let times = |columns: std::ops::Range<usize>| -> Vec<f64> {
        let entry = |i: usize, j: usize| -> f64 {
            -(0..nu).map(|k| mass[i * nu + k] * reduced.matrix[(nz + k) * d + j]).sum::<f64>() + 0.0
        };
        (0..nu)
            .flat_map(|i| columns.clone().map(move |j| (i, j)))
            .map(|(i, j)| entry(i, j))
            .collect()
    };
    let (damping, stiffness) = (times(nz..d), times(0..nz));
    Some(SecondOrder { mass, damping, stiffness })
}
