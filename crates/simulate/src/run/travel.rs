//! The ends of motions alone: nothing is observed on the way, nothing is summed up.
//!
//! What holds a motion is the same as on a run: rows are chosen, steps controlled, constraints
//! held, rates checked. What is left out is what a run tells of it: outputs, energies, multipliers,
//! the certificate. A traveller is kept from one motion to the next: many motions cost what their
//! steps do.
//!
//! Steps at which nothing is to be decided are taken by [`abreast`](crate::drive), of several
//! motions at once where there are several; what else comes up is done by the driver, and the
//! motion goes on with the others.
//!
//! Events happen as they do on a run: they are found, and act, while the driver has the motion.
//!
//! Not for charts, which are changed on the way; `auto` takes the method that a run begins with, and a
//! motion that turns out to be stiff is left to a run.

use crate::at_state::report::EvalError;
use crate::drive::abreast::{Became, Moves, Ready, Traveling};
use crate::drive::{Accumulation, Driver, End, Failure, Sample, Statistics};
use crate::integrators::Problem;
use crate::points::impulse::Impulses;
use crate::points::start;
use crate::program::field::{Field, FieldError};
use crate::program::observer::{Observation, Observer};
use crate::run::certificate::{Certificate, Measure};
use crate::run::event_log::Acting;
use crate::run::method::{self, AUTO};
use crate::run::options::control_of;
use crate::run::{Program, RunError, RunOptions};
use crate::setting::{Setting, State};
use dalembert_expr::ExprId;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A motion that leaves the others is served for so many steps at first.
const SERVED: u64 = 8;
/// One that leaves ahead of an event or a turn is back behind it.
const MET: u64 = 1;
/// One that leaves again before it has gone far is served for this many times as many, as a power of
/// two: what meets something every few steps is soon left to the driver.
const LONGER: u32 = 3;
/// That is done so often at most.
const MOST: u32 = 8;
/// After so many steps with the others it was worth while to come back: about as many cost the driver
/// what it takes to serve a motion at all.
const FAR: u64 = 16;

/// Moves states to the end of a run.
pub struct Traveller {
    setting: Setting,
    driver: Driver,
    end: f64,
    /// The velocities of the formulation, where they are not those of the model.
    own: Option<Vec<ExprId>>,
    /// None where every step is the driver's.
    mover: Option<Box<dyn Moves>>,
    /// The field before any motion, for motions that are served.
    unmoved: Option<Field>,
    parameters: Arc<[f64]>,
    /// Whether there are rows that follow from others.
    follows: bool,
    observer: Observer,
    impulses: Option<Impulses>,
    tolerance: f64,
}

/// What is compiled for the ends of many motions; threads may share it. An end is the same to the
/// bit whatever motions are moved with it, and however many at once: nothing that is learned of one
/// is there for another.
pub struct Ensemble {
    program: Program,
    options: RunOptions,
    ready: Ready,
}

/// Threads may share an ensemble.
const _: fn() = || {
    fn is_shareable<T: Send + Sync>() {}
    is_shareable::<Ensemble>();
};

/// A motion to be moved.
#[derive(Clone)]
pub struct Departure {
    /// Its number.
    pub id: usize,
    /// Where it begins.
    pub state: State,
    /// Other values of the parameters, with which the same rows are held
    /// ([`Program::with`] tells).
    pub setting: Option<Setting>,
}

impl Departure {
    /// A motion with the parameters that the model has.
    pub fn new(id: usize, state: State) -> Departure {
        Departure { id, state, setting: None }
    }
}

/// Where a motion came to.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// Its number among those that were asked for.
    pub id: usize,
    /// How it ended.
    pub end: End,
    /// When.
    pub t: f64,
    /// q and the velocities of the formulation.
    pub x: Vec<f64>,
    /// Steps, and those turned down.
    pub statistics: Statistics,
    /// How often the driver served it.
    pub served: u32,
    /// The events that happened, in order: when, and which.
    pub events: Vec<(f64, usize)>,
    /// Singular positions that it crossed.
    pub crossed: usize,
    /// The energy that they and jumps in time have brought.
    jumped: f64,
    /// How fast each of the velocities has been.
    speeds: Vec<f64>,
}

/// What is seen of a motion at its end.
pub struct Seen {
    /// What is observed there. No work was followed.
    pub observation: Observation,
    /// What was left of the constraints and of Gauss's principle there, and of the energy since the
    /// beginning.
    pub certificate: Certificate,
}

impl Program {
    /// A traveller for runs as the options say; `None` where a run has more to do on the way.
    pub fn traveller(&self, options: &RunOptions) -> Result<Option<Traveller>, RunError> {
        let Some(mut traveller) = self.one_by_one(options)? else { return Ok(None) };
        if let Some(ready) = traveller.abreast(self)?.filter(Ready::pays_alone) {
            let Some(unmoved) = self.one_by_one(options)? else { return Ok(None) };
            traveller.goes_by(&ready, unmoved.driver.field);
        }
        Ok(Some(traveller))
    }

    /// What is compiled for many motions of runs as the options say, up to so many at once on a
    /// thread; `None` where steps have more to do than what can be done abreast.
    pub fn ensemble(
        &self,
        options: &RunOptions,
        lanes: usize,
    ) -> Result<Option<Ensemble>, RunError> {
        let Some(mut traveller) = self.one_by_one(options)? else { return Ok(None) };
        let Some(ready) = traveller.abreast(self)? else { return Ok(None) };
        let (program, options) = (self.clone(), options.clone());
        Ok(Some(Ensemble { program, options, ready: ready.side_by_side(lanes) }))
    }

    /// A traveller all of whose steps are the driver's.
    fn one_by_one(&self, options: &RunOptions) -> Result<Option<Traveller>, RunError> {
        if self.equations.chart.is_some() || self.phases.is_some() {
            return Ok(None);
        }
        let Program { setting, equations, field, cost_of_rates, .. } = self;
        let mut field = field.clone();
        let (integrator, _) = method::first_for(setting, options, &mut field, *cost_of_rates)?;
        let start = setting.number(setting.model.system.run.from, &Default::default());
        let leaves = options.method == AUTO && method::can_be_stiff(&field.equations);
        let control = control_of(options, start, leaves);
        let x = vec![0.0; field.state_length()];
        let exprs = &setting.model.exprs;
        let velocities: Vec<ExprId> =
            setting.model.system.velocities().into_iter().map(|s| exprs.of_symbol(s)).collect();
        let parameters = field.constants().into();
        let mut driver = Driver::new(field, integrator, control, start, x);
        driver.set_parts(&self.energies.parts);
        driver.set_events(self.functions.clone());
        let own = (equations.own != velocities).then(|| equations.own.clone());
        let (setting, end) = (setting.apart(), options.end);
        Ok(Some(Traveller {
            setting,
            driver,
            end,
            own,
            mover: None,
            unmoved: None,
            parameters,
            follows: false,
            observer: self.observer.clone(),
            impulses: self.impulses.clone(),
            tolerance: options.tolerance,
        }))
    }
}

impl Ensemble {
    /// One who moves its motions, on a thread; `None` where a run has more to do on the way.
    pub fn traveller(&self) -> Result<Option<Traveller>, RunError> {
        let Some(mut traveller) = self.program.one_by_one(&self.options)? else { return Ok(None) };
        let unmoved = traveller.driver.field.clone();
        traveller.goes_by(&self.ready, unmoved);
        Ok(Some(traveller))
    }
}

impl Traveller {
    fn goes_by(&mut self, ready: &Ready, unmoved: Field) {
        self.mover = Some(ready.mover());
        self.unmoved = Some(unmoved);
        self.follows = ready.has_unused();
    }

    /// Moves a state to the end.
    pub fn travel(&mut self, start: &State) -> Arrived {
        let mut start = Some(Departure::new(0, start.clone()));
        let (t, mut arrived) = (self.end, None);
        self.travel_all(&mut || start.take(), &mut |end| arrived = Some(end));
        let nowhere = || Arrived {
            id: 0,
            end: End::Interrupted,
            t,
            x: Vec::new(),
            statistics: Statistics::default(),
            served: 0,
            events: Vec::new(),
            crossed: 0,
            jumped: 0.0,
            speeds: Vec::new(),
        };
        arrived.unwrap_or_else(nowhere)
    }

    /// Moves motions to the end. They are asked for one by one, as there is room; `took` is told
    /// of each when it is there, which need not be in their order.
    pub fn travel_all(
        &mut self,
        motions: &mut dyn FnMut() -> Option<Departure>,
        took: &mut dyn FnMut(Arrived),
    ) {
        let Traveller { setting, driver, end, own, mover, unmoved, parameters, .. } = self;
        let (follows, observer, impulses) = (self.follows, &mut self.observer, &mut self.impulses);
        let mut service =
            Service { setting, driver, observer, impulses, tolerance: self.tolerance };
        let setting = service.setting;
        let mut begin = || {
            let Departure { id, state, setting: other } = motions()?;
            let own_parameters = other.as_ref().map(|other| other.constants().1);
            // Rows that follow from others with some values of the parameters need not with others.
            let is_quiet = own_parameters.is_none() || !follows;
            Some(Traveling {
                id,
                t: state.t,
                end: *end,
                x: own_state(other.as_ref().unwrap_or(setting), own.as_deref(), &state),
                parameters: own_parameters.map_or_else(|| parameters.clone(), Arc::from),
                setting: other,
                is_quiet,
                sizes: [Vec::new(), Vec::new()],
                h: 0.0,
                steps: 0,
                rejected: 0,
                served: 0,
                abreast: 0,
                meets: false,
                stays: 0,
                events: None,
                happened: Vec::new(),
                accumulation: Accumulation::default(),
                crossed: 0,
                jumped: 0.0,
                guess: state,
            })
        };
        let Some(mover) = mover else {
            while let Some(mut motion) = begin() {
                let ended = service.serve(&mut motion, u64::MAX);
                took(told(motion, ended.unwrap_or(End::Interrupted)));
            }
            return;
        };
        mover.go(&mut begin, &mut |became| {
            let mut motion = match became {
                Became::Arrived(motion) => {
                    took(told(motion, End::Finished));
                    return None;
                }
                Became::Leaves(motion) => motion,
            };
            motion.stays = match motion.abreast >= FAR {
                true => motion.stays.saturating_sub(1),
                false => (motion.stays + 1).min(MOST),
            };
            let longer = LONGER * motion.stays.saturating_sub(1);
            let steps = if motion.meets { MET } else { SERVED } << longer;
            unmoved.iter().for_each(|field| service.driver.renew(field.clone()));
            match service.serve(&mut motion, steps) {
                Some(end) => {
                    took(told(motion, end));
                    None
                }
                None => Some(motion),
            }
        });
    }

    /// Looks at the end of a motion, as a run does, and back to its beginning. None if it was not
    /// moved abreast.
    pub fn look(
        &mut self,
        motion: &Departure,
        arrived: &Arrived,
    ) -> Option<Result<Seen, FieldError>> {
        let field = self.unmoved.clone()?;
        Some(self.look_with(field, motion, arrived))
    }

    fn look_with(
        &mut self,
        field: Field,
        motion: &Departure,
        arrived: &Arrived,
    ) -> Result<Seen, FieldError> {
        let Traveller { setting, driver, own, observer, .. } = self;
        let setting = motion.setting.as_ref().unwrap_or(setting);
        let (symbols, constants) = setting.constants();
        driver.renew(field);
        driver.field.guess(&motion.state);
        driver.set_values(&symbols, &constants, true);
        observer.prepare(&constants);
        let mut first = own_state(setting, own.as_deref(), &motion.state);
        first.push(0.0);
        let mut gauss = Measure::default();
        let mut at = |driver: &mut Driver, t: f64, x: &[f64]| {
            driver.restart(t, x);
            driver.settle_branches()?;
            driver.prepare();
            let observation = observer.observe(&mut driver.field, t, x)?;
            gauss.see(&observation.gauss);
            Ok::<Observation, FieldError>(observation)
        };
        let began = at(driver, motion.state.t, &first)?;
        let mut last = arrived.x.clone();
        last.push(0.0);
        let observation = at(driver, arrived.t, &last)?;
        let (left, rank) = driver.left_of_rows(&last)?;
        let mut certificate = Certificate {
            position_residual: left.position,
            velocity_residual: left.velocity,
            gauss: gauss.residual(),
            ranks: (rank, rank),
            // About: a step takes a motion about as far as it is large.
            characteristic_times: arrived.statistics.steps as f64,
            ..Certificate::default()
        };
        if driver.field.conserves_energy() {
            let exchanged = driver.kinetic_energy(&arrived.speeds);
            let change = (observation.energy - began.energy - arrived.jumped).abs();
            let noise = 64.0 * f64::EPSILON * observation.energy.abs().max(began.energy.abs());
            let drift = if change <= noise { 0.0 } else { change / exchanged };
            certificate.invariants = vec![("energy".to_owned(), drift)];
        }
        Ok(Seen { observation, certificate })
    }

    /// What is compiled for steps at which nothing is to be decided, by the model's own start; none
    /// where that does not apply.
    fn abreast(&mut self, program: &Program) -> Result<Option<Ready>, RunError> {
        let start = start::start(&program.setting);
        let state = start.map_err(|e| RunError::Eval(EvalError::Start(e)))?.state;
        if !(self.end > state.t && self.end.is_finite()) {
            return Ok(None);
        }
        let mut x = own_state(&self.setting, self.own.as_deref(), &state);
        x.push(0.0);
        self.driver.field.guess(&state);
        self.driver.restart(state.t, &x);
        Ok(self.driver.abreast())
    }
}

/// Those who serve motions that leave the others.
struct Service<'a> {
    setting: &'a Setting,
    driver: &'a mut Driver,
    observer: &'a mut Observer,
    impulses: &'a mut Option<Impulses>,
    tolerance: f64,
}

impl Service<'_> {
    /// Moves a motion by so many steps, through what it meets, or to its end, which is told then.
    fn serve(&mut self, motion: &mut Traveling, steps: u64) -> Option<End> {
        self.driver.take_up(motion, steps);
        let ended = self.drive(motion);
        let is_there = self.driver.t == motion.end;
        self.driver.put_down(motion);
        match ended {
            End::Interrupted if !is_there => None,
            End::Interrupted => Some(End::Finished),
            ended => Some(ended),
        }
    }

    fn drive(&mut self, motion: &mut Traveling) -> End {
        let mut events = match self.begin_events(motion) {
            Ok(events) => events,
            Err(failure) => return End::Failed(failure),
        };
        loop {
            if let Some(end) = self.act(motion, &events) {
                return end;
            }
            let go_on = &mut |_: &mut Field, _: Sample<'_>| ControlFlow::Continue(());
            match self.driver.run(motion.end, &[], go_on) {
                End::Events(list) => events = list,
                End::PiledUp { event, t } => {
                    return End::PiledUp { event, t: motion.accumulation.limit(event, t) };
                }
                end => return end,
            }
        }
    }

    /// Where events stand; those that happen at the very start.
    fn begin_events(&mut self, motion: &Traveling) -> Result<Vec<usize>, Failure> {
        let setting = motion.setting.as_ref().unwrap_or(self.setting);
        if !self.driver.set_event_parameters(setting) {
            return Ok(Vec::new());
        }
        self.observer.prepare(&motion.parameters);
        self.impulses.iter_mut().for_each(|impulses| impulses.set_parameters(setting));
        match &motion.events {
            Some(state) => {
                self.driver.resume_events(state);
                Ok(Vec::new())
            }
            None => {
                self.driver.settle_branches().map_err(Failure::Field)?;
                self.driver.prepare();
                self.driver.begin_events(motion.end)
            }
        }
    }

    /// Lets events act, and those that happen because of them; how the motion ends, if it does.
    fn act(&mut self, motion: &mut Traveling, events: &[usize]) -> Option<End> {
        if events.is_empty() {
            return None;
        }
        let mut log = Vec::new();
        let mut acting = Acting {
            setting: motion.setting.as_ref().unwrap_or(self.setting),
            driver: self.driver,
            observer: self.observer,
            impulses: self.impulses.as_ref(),
            log: &mut log,
            accumulation: &mut motion.accumulation,
            end: motion.end,
            tolerance: self.tolerance,
        };
        let mut ended = None;
        match acting.begin(events, f64::NAN) {
            Ok(mut pending) => {
                while !pending.events.is_empty() && ended.is_none() {
                    ended = acting.act(&mut pending, &mut |_| {}).err();
                }
            }
            Err(failure) => ended = Some(End::Failed(failure)),
        }
        motion.jumped += log.iter().fold(0.0, |sum, record| sum + record.energy);
        motion.happened.extend(log.iter().map(|record| (record.t, record.event)));
        ended
    }
}

fn told(motion: Traveling, end: End) -> Arrived {
    let Traveling { id, t, x, steps, rejected, served, happened, crossed, jumped, .. } = motion;
    let [origin, mut speeds] = motion.sizes;
    let statistics = Statistics { steps, rejected, ..Statistics::default() };
    speeds.drain(..origin.len().min(speeds.len()));
    Arrived { id, end, t, x, statistics, served, events: happened, crossed, jumped, speeds }
}

/// q and the velocities of the formulation.
fn own_state(setting: &Setting, own: Option<&[ExprId]>, state: &State) -> Vec<f64> {
    let mut x = state.q.clone();
    match own {
        None => x.extend(&state.velocity),
        Some(own) => {
            let table = state.table(&setting.model.system);
            x.extend(setting.numbers(own, &table));
        }
    }
    x
}
