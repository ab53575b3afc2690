//! A run on its way: from the start through events, charts and methods to its end, and what is
//! seen of it for the report.

use crate::drive::{
    Accumulation, Dense, Driver, End, EventFunctions, Failure, Jolt, Statistics, Undecided,
};
use crate::integrators::{Integrator, dop853};
use crate::phases::rows;
use crate::points::impulse::Impulses;
use crate::points::start::Start;
use crate::program::energy::Energies;
use crate::program::field::Field;
use crate::program::observer::{Observation, Observer};
use crate::run::certificate::{Certificate, Measure};
use crate::run::event_log::{Acting, EventRecord};
use crate::run::going::Going;
use crate::run::method::{self, AUTO, Change, Choice, HoldsEnergy, integrator_for};
use crate::run::options::control_of;
use crate::run::report::{Seconds, Sizes, keep_largest};
use crate::run::ticks::Ticks;
use crate::run::{self, Program, Progress, RunError, RunOptions, derive};
use crate::setting::Setting;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// A run on its way, through one chart after another.
pub(crate) struct Simulation<'a> {
    pub(crate) setting: Setting,
    pub(crate) options: &'a RunOptions,
    pub(crate) driver: Driver,
    pub(crate) observer: Observer,
    pub(crate) impulses: Option<Impulses>,
    pub(crate) event_log: Vec<EventRecord>,
    pub(crate) accumulation: Accumulation,
    pub(super) undecided: Vec<Undecided>,
    pub(super) jolts: Vec<Jolt>,
    /// The energy that jumps in time brought in former charts.
    pub(super) jumped: f64,
    pub(super) certificate: Certificate,
    pub(super) statistics: Statistics,
    pub(super) evaluations: u64,
    pub(super) seconds: Seconds,
    pub(super) overhead: Duration,
    pub(super) choice: Choice,
    /// Whether it was said that the motion is stiff for the method that was asked for.
    told_stiff: bool,
    /// Whether the integrator needs Γ by its entries, where it could be that of bodies.
    takes_entries: bool,
    pub(super) holds_energy: HoldsEnergy,
    pub(super) charts: u32,
    pub(super) began: f64,
    pub(super) largest_multipliers: Vec<(f64, f64)>,
    pub(super) energies: Energies,
    /// ∫|ẋ| dt of each component.
    pub(super) paths: Vec<f64>,
    /// The steps that these paths are made of.
    pub(super) path_steps: u32,
    pub(super) sizes: Sizes,
    pub(super) first: Vec<f64>,
    pub(super) conserved: bool,
    pub(super) followed: bool,
    /// Where it stands among the phases of contacts and friction.
    pub(super) going: Option<Going>,
    /// How many events the model has of its own: guards come behind them.
    pub(super) own_events: usize,
}

impl<'a> Simulation<'a> {
    pub(super) fn new(
        program: Program,
        options: &'a RunOptions,
        start: &Start,
    ) -> Result<Simulation<'a>, RunError> {
        let state = &start.state;
        let Program {
            setting,
            equations,
            mut field,
            observer,
            energies,
            functions,
            impulses,
            cost_of_rates,
            took,
            ..
        } = program;
        let clock = Instant::now();
        field.guess(state);
        let (integrator, chosen) = method::first_for(&setting, options, &mut field, cost_of_rates)?;
        let [derived, compiled] = [took[0], took[1] + clock.elapsed()];
        let mut x = state.q.clone();
        x.extend(setting.numbers(&equations.own, &state.table(&setting.model.system)));
        x.push(0.0);
        let mut choice = Choice::new(options, integrator.as_ref(), chosen);
        choice.notes.extend(field.sparsity());
        if options.elimination.is_along_tree() && field.equations.bodies.is_none() {
            let (own, other) = (options.elimination.name(), dalembert_gauss::DEFAULT.name());
            choice.notes.push(format!(
                "`{own}` goes along a tree of bodies, which these equations do not have: `{other}` \
                 takes its place"
            ));
        }
        let holds_energy = HoldsEnergy::new(options, integrator.as_ref(), &field);
        let leaves = options.method == AUTO && method::can_be_stiff(&field.equations);
        let control = control_of(options, state.t, leaves);
        let (conserved, followed) = (field.conserves_energy(), field.follows_work());
        let mut driver = Driver::new(field, integrator, control, state.t, x);
        driver.set_events(functions);
        driver.set_parts(&energies.parts);
        driver.dense = options.dense.then(|| Dense::new(&driver.field.equations));
        Ok(Simulation {
            setting,
            options,
            driver,
            observer,
            impulses,
            event_log: Vec::new(),
            accumulation: Accumulation::default(),
            undecided: Vec::new(),
            jolts: Vec::new(),
            jumped: 0.0,
            certificate: Certificate { ranks: (usize::MAX, 0), ..Certificate::default() },
            statistics: Statistics::default(),
            evaluations: 0,
            seconds: Seconds {
                derive: derived.as_secs_f64(),
                compile: compiled.as_secs_f64(),
                integrate: 0.0,
            },
            overhead: Duration::ZERO,
            choice,
            told_stiff: false,
            takes_entries: false,
            holds_energy,
            charts: 1,
            began: state.t,
            largest_multipliers: Vec::new(),
            energies,
            paths: Vec::new(),
            path_steps: 0,
            sizes: Sizes::new(&state.q),
            first: state.q.clone(),
            conserved,
            followed,
            going: None,
            own_events: usize::MAX,
        })
    }

    pub(super) fn run(
        &mut self,
        times: &[f64],
        end: f64,
        record: &mut dyn FnMut(&Observation) -> ControlFlow<()>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<End, RunError> {
        let mut progress = Progress { t: self.driver.t, start: self.driver.t, end, steps: 0 };
        let mut gauss = Measure::default();
        // The start itself.
        if let Err(error) = self.driver.settle_branches() {
            return Ok(End::Failed(Failure::Field(error)));
        }
        self.driver.prepare();
        let (t, x) = (self.driver.t, self.driver.x.clone());
        match self.observer.observe(&mut self.driver.field, t, &x) {
            Ok(first) => {
                gauss.see(&first.gauss);
                keep_largest(&mut self.largest_multipliers, &first);
                if record(&first).is_break() {
                    return Ok(End::Interrupted);
                }
            }
            Err(error) => return Ok(End::Failed(Failure::Field(error))),
        }
        if let Some(fault) = self.going.as_mut().and_then(Going::fault) {
            return Ok(End::Failed(Failure::Phase(fault)));
        }
        self.energies.see(&self.driver.field, t, &x, true);
        let mut recorded = t;
        // Between constant steps the dense output is less exact than their ends.
        let holds_energy = self.holds_energy != HoldsEnergy::No;
        let middle = 0.5 * (self.driver.t + end);
        let forward = if end >= self.driver.t { 1.0 } else { -1.0 };
        let mut times_before = 0.0;
        let mut done = 0;
        let ticks = Ticks::new(&self.setting, self.options.events, self.driver.t, end);
        let mut events = match self.driver.begin_events(end) {
            Ok(events) => ticks.join(self.driver.t, events),
            Err(failure) => return Ok(End::Failed(failure)),
        };
        loop {
            if !events.is_empty() {
                let mut is_interrupted = false;
                let told = recorded;
                let times_run = times_before + self.times();
                let mut see = |observation: &Observation| {
                    gauss.see(&observation.gauss);
                    recorded = observation.state.t;
                    is_interrupted |= record(observation).is_break();
                };
                let ended = match self.going {
                    None => self.act(&events, told, &mut see)?,
                    Some(_) => {
                        times_before = times_run;
                        self.forget_paths();
                        self.act_in_phases(&events, told, &mut see)?
                    }
                };
                self.certificate.gauss = gauss.residual();
                if ended.is_some() || is_interrupted {
                    return Ok(ended.unwrap_or(End::Interrupted));
                }
                events.clear();
            }
            let stop = ticks.next(self.driver.t);
            if let Some(going) = &mut self.going {
                self.driver.pass_by(std::mem::take(&mut going.late), stop);
            }
            let observer = &mut self.observer;
            let largest = &mut self.largest_multipliers;
            let energies = &mut self.energies;
            self.paths.resize(self.driver.x.len(), 0.0);
            let (paths, sizes, first) = (&mut self.paths, &mut self.sizes, &self.first);
            let path_steps = &mut self.path_steps;
            // And so it is of work, where steps go by residuals: they are as long as the motion allows.
            let at_steps = holds_energy || self.driver.goes_by_residuals();
            let mut last_t = self.driver.t;
            let mut failure = None;
            let by_impacts = self.going.as_ref().map_or(0.0, |going| going.energy);
            let by_events = self.event_log.iter().fold(by_impacts, |sum, h| sum + h.energy);
            let by_switches = self.jumped;
            let going = &mut self.going;
            let outcome = self.driver.run(stop, &times[done..], &mut |field, sample| {
                energies.jumps = by_events;
                energies.switched = by_switches + sample.jumped;
                if sample.is_output {
                    done += 1;
                    match observer.observe(field, sample.t, sample.x) {
                        Ok(observation) => {
                            gauss.see(&observation.gauss);
                            keep_largest(largest, &observation);
                            sizes.see(first, sample.x, &observation.state.velocity);
                            if !at_steps || sample.is_step {
                                let is_early = forward * (sample.t - middle) <= 0.0;
                                energies.see(field, sample.t, sample.x, is_early);
                            }
                            recorded = sample.t;
                            if let Some(going) = going.as_mut() {
                                going.look(&observation);
                            }
                            if record(&observation).is_break() {
                                return ControlFlow::Break(());
                            }
                        }
                        Err(error) => {
                            failure = Some(error);
                            return ControlFlow::Break(());
                        }
                    }
                } else if let Some(rates) = sample.rates {
                    let is_early = forward * (sample.t - middle) <= 0.0;
                    energies.see(field, sample.t, sample.x, is_early);
                    sizes.see(first, sample.x, rates);
                    let length = (sample.t - last_t).abs();
                    paths.iter_mut().zip(rates).for_each(|(path, d)| *path += d.abs() * length);
                    *path_steps += 1;
                    last_t = sample.t;
                }
                if !sample.is_step {
                    return ControlFlow::Continue(());
                }
                progress.t = sample.t;
                progress.steps += 1;
                watch(progress)
            });
            self.certificate.gauss = gauss.residual();
            let times_run = times_before + self.times();
            self.certificate.characteristic_times = times_run;
            self.energies.look(&self.setting);
            self.certificate.energy_balance = self.followed.then_some(self.energies.balance());
            self.certificate.energy_bound =
                self.holds_energy.bound(self.energies.early(), times_run, self.options.tolerance);
            self.choice.step = self.driver.constant_step();
            self.look_for_stiffness();
            if self.conserved {
                self.certificate.invariants = vec![("energy".to_owned(), self.energies.change())];
            }
            if let Some(error) = failure {
                return Ok(End::Failed(Failure::Field(error)));
            }
            match outcome {
                End::ChartIllConditioned => {
                    times_before = times_run;
                    self.change_chart()?;
                }
                End::Stiff => self.change_method()?,
                End::Events(list) => events = ticks.join(self.driver.t, list),
                End::Finished if stop != end => events = ticks.join(self.driver.t, Vec::new()),
                End::PiledUp { event, t } => {
                    return Ok(End::PiledUp { event, t: self.accumulation.limit(event, t) });
                }
                End::Sticks(stuck) => {
                    times_before = times_run;
                    let mut is_interrupted = false;
                    let told = recorded;
                    let lifted = self.lift(&stuck, told, &mut |observation| {
                        gauss.see(&observation.gauss);
                        recorded = observation.state.t;
                        is_interrupted |= record(observation).is_break();
                    })?;
                    match lifted {
                        None => return Ok(End::Sticks(stuck)),
                        Some(Err(end)) => return Ok(end),
                        Some(Ok(_)) if is_interrupted => return Ok(End::Interrupted),
                        Some(Ok(more)) => events = more,
                    }
                }
                end => return Ok(end),
            }
        }
    }

    /// How often the state has changed by its own size on its paths. A step does not change it more than
    /// once: what does, by its rates, has been at rest, and its size is rounding.
    fn times(&self) -> f64 {
        self.driver.times(&self.paths).min(f64::from(self.path_steps))
    }

    /// Begins new paths.
    pub(super) fn forget_paths(&mut self) {
        self.paths.clear();
        self.path_steps = 0;
    }

    /// Lets events act at the driver's state, and then those that happen because of that, where what
    /// is told was `recorded` last. Returns how the run ends, if it ends here.
    fn act(
        &mut self,
        events: &[usize],
        recorded: f64,
        see: &mut dyn FnMut(&Observation),
    ) -> Result<Option<End>, RunError> {
        let mut pending = match self.acting().begin(events, recorded) {
            Ok(pending) => pending,
            Err(failure) => return Ok(Some(End::Failed(failure))),
        };
        if let Err(failure) = self.let_go(events)? {
            return Ok(Some(End::Failed(failure)));
        }
        // What some of them change may make others happen at the same time.
        while !pending.events.is_empty() {
            let moved = match self.acting().act(&mut pending, see) {
                Ok(moved) => moved,
                Err(end) => return Ok(Some(end)),
            };
            if moved && self.driver.chart_is_ill_conditioned() {
                self.change_chart()?;
            }
        }
        Ok(None)
    }

    /// The same where contacts and friction have phases: what these do at an instant comes first, and
    /// again after events that have set the state.
    fn act_in_phases(
        &mut self,
        events: &[usize],
        recorded: f64,
        see: &mut dyn FnMut(&Observation),
    ) -> Result<Option<End>, RunError> {
        let part = |going: &Option<Going>| going.as_ref().map(|going| going.part(events));
        let Some((mut own, guards)) = part(&self.going) else { return Ok(None) };
        if !guards.is_empty() {
            match self.change_phase(&guards, false, recorded, see)? {
                Ok(more) => own.extend(more),
                Err(end) => return Ok(Some(end)),
            }
        }
        own.sort_unstable();
        own.dedup();
        while !own.is_empty() {
            let before = self.driver.x.clone();
            let ended = self.act(&own, self.driver.t, see)?;
            self.forget_impulses();
            if ended.is_some() {
                return Ok(ended);
            }
            own.clear();
            if self.driver.x != before {
                match self.change_phase(&[], true, self.driver.t, see)? {
                    Ok(more) => own = more,
                    Err(end) => return Ok(Some(end)),
                }
            }
        }
        Ok(None)
    }

    fn acting(&mut self) -> Acting<'_> {
        Acting {
            setting: &self.setting,
            driver: &mut self.driver,
            observer: &mut self.observer,
            impulses: self.impulses.as_ref(),
            log: &mut self.event_log,
            accumulation: &mut self.accumulation,
            end: self.options.end,
            tolerance: self.options.tolerance,
        }
    }

    /// Says where the motion is stiff for the integrator it has.
    fn look_for_stiffness(&mut self) {
        let Some((t, stiff)) = self.driver.stiff.take() else { return };
        let words = method::stiff_words(&self.setting, &self.driver.field.equations, &stiff);
        if self.options.method == AUTO {
            let (from, to) = (self.choice.name, "radau");
            self.choice.changes.push(Change { t, from, to, reason: words });
        } else if !std::mem::replace(&mut self.told_stiff, true) {
            self.choice.notes.push(format!(
                "{words} (from t = {t:.6} on); the method `auto` would take radau from there"
            ));
        }
    }

    /// Goes on with the integrator for stiff motions.
    fn change_method(&mut self) -> Result<(), RunError> {
        if self.driver.field.equations.bodies.is_some() {
            // It takes Γ by its entries.
            self.takes_entries = true;
            self.choice.name = "radau";
            self.change_chart()?;
            self.charts -= 1;
        }
        let clock = Instant::now();
        let field = &mut self.driver.field;
        let integrator = integrator_for(&self.setting, self.options, "radau", field)?;
        self.choice.name = integrator.name();
        if let Some(change) = self.choice.changes.last() {
            self.choice.reason.clone_from(&change.reason);
        }
        self.driver.change_integrator(integrator);
        self.overhead += clock.elapsed();
        Ok(())
    }

    /// Goes on in a chart that suits the state.
    pub(crate) fn change_chart(&mut self) -> Result<(), RunError> {
        let clock = Instant::now();
        let (t, x) = (self.driver.t, self.driver.x.clone());
        let mut dx = vec![0.0; x.len()];
        let _ = self.driver.field.certified_rates(t, &x, &mut dx);
        let state = self.observer.state(&self.driver.field, t, &x);
        self.finish();
        let setting = &self.setting;
        let picture = run::picture(setting, self.options, self.takes_entries)?;
        let equations = derive(setting, &picture, self.options, Some(&state))?;
        let mut field = Field::on(setting, Some(&picture), &equations, self.options.elimination);
        field.inherit_windings(&self.driver.field);
        self.observer = Observer::new(setting, &picture, &equations);
        let mut energies = Energies::new(setting, &picture, &equations);
        std::mem::swap(&mut energies, &mut self.energies);
        self.energies.go_on(energies, setting);
        self.forget_paths();
        let system = &self.setting.model.system;
        let mut next = state.q.clone();
        next.extend(self.setting.numbers(&equations.own, &state.table(system)));
        next.push(x[x.len() - 1]);
        let integrator = self.integrator_in_chart(&mut field)?;
        let leaves = self.options.method == AUTO && self.choice.changes.is_empty();
        let mut control = control_of(self.options, self.began, leaves);
        control.step = self.driver.constant_step();
        let h = self.driver.h;
        let mut functions = match self.options.events || self.going.is_some() {
            true => EventFunctions::new(&self.setting, &picture, &equations),
            false => None,
        };
        if let (Some(new), Some(old)) = (&mut functions, &self.driver.take_events()) {
            new.inherit(old);
        }
        let way = self.driver.way();
        let mut driver = Driver::new(field, integrator, control, t, next);
        driver.inherit_scales(&self.driver);
        driver.set_parts(&self.energies.parts);
        driver.set_way(way);
        driver.dense = self.driver.dense.take();
        if let Some(dense) = &mut driver.dense {
            dense.change_chart(&driver.field.equations);
        }
        self.driver = driver;
        self.driver.set_events(functions);
        self.driver.h = h;
        self.charts += 1;
        self.overhead += clock.elapsed();
        Ok(())
    }

    /// The integrator at hand for the field of another chart; where that has no series, and they
    /// were not asked for, one that needs none.
    fn integrator_in_chart(&mut self, field: &mut Field) -> Result<Box<dyn Integrator>, RunError> {
        let found = integrator_for(&self.setting, self.options, self.choice.name, field);
        if found.is_ok() || self.options.method != AUTO {
            return found;
        }
        let integrator = integrator_for(&self.setting, self.options, dop853::NAME, field)?;
        self.choice.name = integrator.name();
        Ok(integrator)
    }

    /// Takes over the counts of the driver.
    pub(super) fn finish(&mut self) {
        let driver = &self.driver;
        self.statistics.steps += driver.statistics.steps;
        self.statistics.rejected += driver.statistics.rejected;
        self.statistics.switches += driver.statistics.switches;
        self.statistics.decisions += driver.field.counts.decisions;
        self.statistics.frozen += driver.field.counts.frozen;
        self.statistics.decided += driver.field.counts.decided;
        self.evaluations += driver.field.evaluations;
        let own = self.own_events;
        self.undecided.extend(driver.undecided.iter().filter(|u| u.event < own));
        let number = |rows_of: &mut Vec<usize>| {
            let system = &self.setting.model.system;
            rows_of.iter_mut().for_each(|row| *row = rows::as_written(system, *row));
        };
        for mut jolt in driver.jolts.iter().cloned() {
            number(&mut jolt.constraints);
            self.jolts.push(jolt);
        }
        self.jumped += driver.jumped;
        let certificate = &mut self.certificate;
        certificate.position_residual =
            certificate.position_residual.max(driver.violation.position);
        certificate.velocity_residual =
            certificate.velocity_residual.max(driver.violation.velocity);
        for mut change in driver.rank_changes.iter().cloned() {
            number(&mut change.constraints);
            certificate.rank_changes.push(change);
        }
        let condition = driver.field.servo_condition();
        certificate.servo_condition = match (certificate.servo_condition, condition) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        // A chart has its own rows beside those it solves.
        let more = driver.field.equations.chart.as_ref().map_or(0, |c| c.chart.rows.len());
        if driver.ranks.0 != usize::MAX {
            certificate.ranks.0 = certificate.ranks.0.min(driver.ranks.0 + more);
            certificate.ranks.1 = certificate.ranks.1.max(driver.ranks.1 + more);
        }
    }
}
