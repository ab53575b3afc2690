//! A tape's code as a function: what is compiled once, and what changes in a call.

use super::aligned::Aligned;
use super::emit::{self, Reach};
use super::encoder::{Encoder, Width};
use super::has_eight;
use super::layout::{Layout, Part};
use super::outs::{Context, Out};
use crate::backends::{Function, Scratch};
use crate::lu::Lu;
use crate::tape::Tape;
use dalembert_machine::{Code, Entry};
use std::sync::{Arc, OnceLock};

/// Sets of variables computed side by side everywhere.
pub const LANES: usize = 4;
/// So many are where the processor has registers for them.
const MANY: usize = 8;

/// Code for `N` doubles at once.
struct Compiled<const N: usize> {
    code: Code<Context<N>>,
    /// How long the frame is.
    frame: usize,
    outs: Arc<[Out]>,
}

/// The entries of code for one double. That for lanes has only the second.
const PROLOGUE: usize = 0;
const BODY: usize = 1;

impl<const N: usize> Compiled<N> {
    /// None if there is no memory for it.
    fn new(tape: &Tape, layout: &Layout, width: Width) -> Option<Compiled<N>> {
        // A typical instruction takes five to nine bytes.
        let mut code = Encoder::new(width, 64 + 9 * tape.instructions.len());
        let mut outs = Vec::new();
        let mut entries = [Entry::default(); 2];
        let mut frame = N * layout.fixed;
        for (number, part) in [(PROLOGUE, Part::Prologue), (BODY, Part::Body)] {
            let at = code.bytes.len();
            // What is computed ahead of the calls is the same in every lane.
            if part == Part::Body || width == Width::One {
                let reach = emit::emit(tape, layout, part, &mut code, &mut outs)?;
                let Reach { frame, x, y } = reach;
                entries[number] = Entry { at, frame: N * frame, x: N * x, y: N * y };
            }
            frame = frame.max(entries[number].frame);
        }
        let code = Code::new(&code.bytes, &entries).ok()?;
        Some(Compiled { code, frame, outs: outs.into() })
    }
}

/// A compiled tape.
struct Plan {
    tape: Tape,
    layout: Layout,
    single: Compiled<1>,
    /// Made when lanes are first asked for; none if there is no memory for it.
    four: OnceLock<Option<Compiled<LANES>>>,
    eight: OnceLock<Option<Compiled<MANY>>>,
}

/// A function as machine code.
pub(crate) struct Assembled(Arc<Plan>);

/// What changes in a call.
#[derive(Clone)]
pub(crate) struct Work {
    /// Whose work it is.
    plan: Arc<Plan>,
    context: Context<1>,
    frame: Vec<f64>,
    /// Variables and outputs for a call that has too few of them.
    x: Vec<f64>,
    y: Vec<f64>,
    four: Option<Wide<LANES>>,
    eight: Option<Wide<MANY>>,
}

/// What changes in a call of lanes, with the lanes of each value side by side.
#[derive(Clone)]
struct Wide<const N: usize> {
    context: Context<N>,
    frame: Aligned,
    x: Aligned,
    y: Aligned,
    /// Whether it knows the constants.
    is_prepared: bool,
}

impl Plan {
    fn four(&self) -> Option<&Compiled<LANES>> {
        self.four.get_or_init(|| Compiled::new(&self.tape, &self.layout, Width::Four)).as_ref()
    }

    fn eight(&self) -> Option<&Compiled<MANY>> {
        if !has_eight() {
            return None;
        }
        self.eight.get_or_init(|| Compiled::new(&self.tape, &self.layout, Width::Eight)).as_ref()
    }

    #[inline]
    fn call(&self, work: &mut Work, x: &[f64], y: &mut [f64]) {
        if !self.single.code.call(BODY, &mut work.context, &mut work.frame, x, y) {
            self.call_short(work, x, y);
        }
    }

    /// One lane of several.
    fn call_lane(&self, work: &mut Work, lane: usize, lanes: usize, x: &[f64], y: &mut [f64]) {
        work.x.fill(f64::NAN);
        let places = work.x.iter_mut().zip(x.chunks_exact(lanes));
        places.for_each(|(place, all)| *place = all[lane]);
        let Work { context, frame, .. } = work;
        self.single.code.call(BODY, context, frame, &work.x, &mut work.y);
        let all = y.chunks_exact_mut(lanes).zip(&work.y);
        all.for_each(|(to, &value)| to[lane] = value);
    }

    /// A call with fewer variables or outputs than there are: what is not given is NaN.
    #[cold]
    fn call_short(&self, work: &mut Work, x: &[f64], y: &mut [f64]) {
        let given = work.x.len().min(x.len());
        work.x[..given].copy_from_slice(&x[..given]);
        work.x[given..].fill(f64::NAN);
        let Work { context, frame, .. } = work;
        self.single.code.call(BODY, context, frame, &work.x, &mut work.y);
        y.iter_mut().zip(&work.y).for_each(|(place, &value)| *place = value);
    }
}

impl<const N: usize> Wide<N> {
    /// The lanes from one on, as many as there are.
    fn call(
        &mut self,
        compiled: &Compiled<N>,
        start: usize,
        lanes: usize,
        x: &[f64],
        y: &mut [f64],
    ) {
        if lanes == N && x.len() == self.x.as_slice().len() && y.len() == self.y.as_slice().len() {
            // They lie as they are wanted.
            let frame = self.frame.as_mut_slice();
            compiled.code.call(BODY, &mut self.context, frame, x, y);
            return;
        }
        let width = N.min(lanes - start);
        let mut given = x.chunks_exact(lanes);
        for place in self.x.as_mut_slice().as_chunks_mut::<N>().0 {
            let Some(all) = given.next() else {
                *place = [f64::NAN; N];
                continue;
            };
            match all[start..].first_chunk() {
                Some(whole) => *place = *whole,
                None => {
                    // Lanes that are not asked for repeat the last one.
                    *place = [all[start + width - 1]; N];
                    place[..width].copy_from_slice(&all[start..]);
                }
            }
        }
        let Wide { context, frame, x, y: output, .. } = self;
        let frame = frame.as_mut_slice();
        compiled.code.call(BODY, context, frame, x.as_slice(), output.as_mut_slice());
        let values = output.as_slice().as_chunks::<N>().0;
        for (to, value) in y.chunks_exact_mut(lanes).zip(values) {
            match to[start..].first_chunk_mut() {
                Some(whole) => *whole = *value,
                None => to[start..].copy_from_slice(&value[..width]),
            }
        }
    }

    fn new(plan: &Plan, compiled: &Compiled<N>) -> Wide<N> {
        let factors = plan.tape.matrices.iter().map(|m| std::array::from_fn(|_| Lu::new(m.size)));
        Wide {
            context: Context { outs: compiled.outs.clone(), factors: factors.collect() },
            frame: Aligned::new(compiled.frame),
            x: Aligned::new(N * plan.tape.variables),
            y: Aligned::new(N * plan.tape.outputs.len()),
            is_prepared: false,
        }
    }

    /// What does not depend on the variables is the same in every lane.
    fn prepare(&mut self, plan: &Plan, frame: &[f64], context: &Context<1>) {
        let fixed = &frame[..plan.layout.fixed];
        let places = self.frame.as_mut_slice().as_chunks_mut::<N>().0;
        places.iter_mut().zip(fixed).for_each(|(place, &value)| *place = [value; N]);
        for (lanes, [lu]) in self.context.factors.iter_mut().zip(&context.factors) {
            lanes.iter_mut().for_each(|lane| lane.clone_from(lu));
        }
        self.is_prepared = true;
    }
}

/// Room for lanes that knows the constants.
fn ready<'a, const N: usize>(
    room: &'a mut Option<Wide<N>>,
    plan: &Plan,
    compiled: &Compiled<N>,
    (frame, context): (&[f64], &Context<1>),
) -> &'a mut Wide<N> {
    let wide = room.get_or_insert_with(|| Wide::new(plan, compiled));
    if !wide.is_prepared {
        wide.prepare(plan, frame, context);
    }
    wide
}

impl Work {
    /// Sets the constants.
    pub(crate) fn prepare(&mut self, constants: &[f64]) {
        let Work { plan, context, frame, four, eight, .. } = self;
        four.iter_mut().for_each(|wide| wide.is_prepared = false);
        eight.iter_mut().for_each(|wide| wide.is_prepared = false);
        let places = &mut frame[Layout::constants(&plan.tape)];
        places.iter_mut().zip(constants).for_each(|(place, &constant)| *place = constant);
        plan.single.code.call(PROLOGUE, context, frame, &[], &mut []);
    }

    /// A call of the function whose room it is.
    #[inline(always)]
    pub(crate) fn call(&mut self, x: &[f64], y: &mut [f64]) {
        let Work { plan, context, frame, .. } = self;
        if !plan.single.code.call(BODY, context, frame, x, y) {
            let plan = plan.clone();
            plan.call_short(self, x, y);
        }
    }
}

impl Assembled {
    /// The code of a regular tape, for one double; the tape itself if there is none.
    pub(super) fn new(tape: Tape) -> Result<Assembled, Box<Tape>> {
        let layout = Layout::new(&tape);
        match Compiled::new(&tape, &layout, Width::One) {
            Some(single) => {
                let (four, eight) = (OnceLock::new(), OnceLock::new());
                Ok(Assembled(Arc::new(Plan { tape, layout, single, four, eight })))
            }
            None => Err(Box::new(tape)),
        }
    }

    /// What this function keeps; none in what another one made.
    fn work<'a>(&self, scratch: &'a mut Scratch) -> Option<&'a mut Work> {
        scratch.get().filter(|work: &&mut Work| Arc::ptr_eq(&work.plan, &self.0))
    }

    /// Room for calls.
    pub(crate) fn room(&self) -> Work {
        let Plan { tape, layout, single, .. } = &*self.0;
        let factors = tape.matrices.iter().map(|m| [Lu::new(m.size)]).collect();
        Work {
            plan: self.0.clone(),
            context: Context { outs: single.outs.clone(), factors },
            frame: layout.frame(tape, single.frame),
            x: vec![0.0; tape.variables],
            y: vec![0.0; tape.outputs.len()],
            four: None,
            eight: None,
        }
    }

    /// Sets the constants of room of this function.
    pub(crate) fn prepare_in(&self, work: &mut Work, constants: &[f64]) {
        work.prepare(constants);
    }

    /// A call in room of this function.
    #[inline]
    pub(crate) fn call_in(&self, work: &mut Work, x: &[f64], y: &mut [f64]) {
        self.0.call(work, x, y);
    }

    /// A call for many sets of variables in room of this function.
    pub(crate) fn call_many_in(&self, work: &mut Work, lanes: usize, x: &[f64], y: &mut [f64]) {
        let plan = &*self.0;
        let Work { context, frame, four, eight, .. } = &mut *work;
        let mut done = 0;
        if lanes >= MANY
            && let Some(compiled) = plan.eight()
        {
            let wide = ready(eight, plan, compiled, (frame, context));
            done = lanes / MANY * MANY;
            (0..done).step_by(MANY).for_each(|start| wide.call(compiled, start, lanes, x, y));
        }
        // One alone is faster by itself.
        let left = lanes - done;
        if left > 1
            && let Some(compiled) = plan.four()
        {
            let wide = ready(four, plan, compiled, (frame, context));
            let end = if left % LANES == 1 { lanes - 1 } else { lanes };
            (done..end).step_by(LANES).for_each(|start| wide.call(compiled, start, lanes, x, y));
            done = end;
        }
        for lane in done..lanes {
            plan.call_lane(work, lane, lanes, x, y);
        }
    }
}

impl Function for Assembled {
    fn constants(&self) -> usize {
        self.0.tape.constants
    }

    fn variables(&self) -> usize {
        self.0.tape.variables
    }

    fn outputs(&self) -> usize {
        self.0.tape.outputs.len()
    }

    fn scratch(&self) -> Scratch {
        Scratch::new(self.room())
    }

    fn prepare(&self, scratch: &mut Scratch, constants: &[f64]) {
        if self.work(scratch).is_none() {
            *scratch = self.scratch();
        }
        if let Some(work) = self.work(scratch) {
            self.prepare_in(work, constants);
        }
    }

    fn call(&self, scratch: &mut Scratch, x: &[f64], y: &mut [f64]) {
        match self.work(scratch) {
            Some(work) => self.call_in(work, x, y),
            None => y.fill(f64::NAN),
        }
    }

    fn call_many(&self, scratch: &mut Scratch, lanes: usize, x: &[f64], y: &mut [f64]) {
        match self.work(scratch) {
            Some(work) => self.call_many_in(work, lanes, x, y),
            None => y.fill(f64::NAN),
        }
    }
}
