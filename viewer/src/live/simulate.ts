/** A motion: from a start through steps, projections and events to its samples. */

import type { PageEvent } from '../page.ts';
import { Events } from './events.ts';
import type { Model } from './model.ts';
import { RungeKutta } from './runge-kutta.ts';
import { reset, start } from './start.ts';
import { Ticks } from './ticks.ts';

/** The same layout as a page's run. */
export interface Motion {
  t: number[];
  /** `values[column][sample]` */
  values: (number | null)[][];
  /** `scene[number][sample]` */
  scene: (number | null)[][];
  events: PageEvent[];
  /** What stopped it, or what is to be known of it; empty if nothing. */
  words: string;
}

export interface Bounds {
  /** How long it may take. */
  milliseconds: number;
  tolerance: number;
  samples: number;
}

/** Resets that come this often in this part of the run come for ever. */
const CROWD = 12;
const CROWDED = 1e-3;
const MOST_EVENTS = 2000;

export function simulate(model: Model, parameters: Float64Array, values: Record<string, number>, tEnd: number | undefined, bounds: Bounds): Motion {
  const { program, n } = model;
  const motion: Motion = {
    t: [],
    values: program.columns.map(() => []),
    scene: Array.from({ length: program.scene }, () => []),
    events: [],
    words: '',
  };
  const began = now();
  model.set(parameters);
  model.evaluations = 0;
  const times = new Float64Array(2);
  model.functions['times']!.call(new Float64Array(0), times);
  const from = times[0]!;
  const end = tEnd ?? times[1]!;
  if (!Number.isFinite(from) || !Number.isFinite(end)) return { ...motion, words: 'the times of the run are no numbers with these values' };
  const begun = start(model, values);
  if ('words' in begun) return { ...motion, words: begun.words };
  const x = begun.x;
  if (!x.every(Number.isFinite)) return { ...motion, words: 'the start is no number with these values' };
  const output = new Float64Array(program.seen);

  const record = (t: number, state: Float64Array): boolean => {
    const seen = model.see(t, state);
    if (!seen) return false;
    model.functions['see']!.call(seen.input, output);
    motion.t.push(t);
    program.columns.forEach((source, column) => {
      let value: number;
      if ('see' in source) value = output[source.see]!;
      else if ('multiplier' in source) value = seen.open[source.multiplier] ? NaN : seen.lambda[source.multiplier]!;
      else if ('reaction' in source) value = seen.force[source.reaction]!;
      else value = NaN;
      motion.values[column]!.push(Number.isFinite(value) ? value : null);
    });
    const first = program.seen - program.scene;
    for (let k = 0; k < program.scene; k++) {
      const value = output[first + k]!;
      motion.scene[k]!.push(Number.isFinite(value) ? value : null);
    }
    return true;
  };

  const stop = (t: number, why: string): Motion => ({ ...motion, words: `stopped at t = ${short(t)}: ${why}` });
  const { size } = model;
  const step = new RungeKutta(size, (t, state, into) => model.rates(t, state, into));
  const events = new Events(model);
  const ticks = new Ticks(model, from, end);
  const largest = new Float64Array(size);
  const fastest = new Float64Array(model.k);
  const allowed = new Float64Array(size);
  const trial = new Float64Array(size);
  const direction = end < from ? -1 : 1;
  const span = Math.abs(end - from);
  let t = from;
  if (!model.decide(t, x) || !record(t, x)) return stop(t, model.trouble);
  if (span === 0) return motion;
  events.begin(t, x, []);
  const sampleAt = (k: number): number => from + ((end - from) * k) / bounds.samples;
  let sample = 1;
  let h = 0;
  const resets: number[] = [];

  /**
   * What each component may be off by: the tolerance of its own largest, or of a part of the largest of all in
   * units of the masses. A motion from rest has the speed that its forces give it over its own extent.
   */
  const weigh = (): void => {
    const mass = (i: number): number => Math.sqrt(Math.max(model.metric[i * n + i]!, 0));
    let [place, speed, push] = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      largest[i] = Math.max(largest[i]!, Math.abs(x[i]!));
      largest[n + i] = Math.max(largest[n + i]!, Math.abs(x[n + i]!));
      place = Math.max(place, mass(i) * largest[i]!);
      speed = Math.max(speed, mass(i) * largest[n + i]!);
      push = Math.max(push, mass(i) * Math.abs(step.first[n + i]!));
    }
    speed = Math.max(speed, 0.1 * Math.sqrt(place * push), 1e-3 * push * span, (1e-6 * place) / span) || 1;
    place = Math.max(place, 1e-2 * speed * span);
    let [smallPlace, smallSpeed] = [Infinity, Infinity];
    for (let i = 0; i < n; i++) {
      const unit = mass(i);
      if (unit > 0) [smallPlace, smallSpeed] = [Math.min(smallPlace, place / unit), Math.min(smallSpeed, speed / unit)];
    }
    for (let i = 0; i < n; i++) {
      const unit = mass(i);
      const own = (all: number, small: number): number => 1e-2 * (unit > 0 ? all / unit : Number.isFinite(small) ? small : 1);
      allowed[i] = bounds.tolerance * Math.max(largest[i]!, own(place, smallPlace));
      allowed[n + i] = bounds.tolerance * Math.max(largest[n + i]!, own(speed, smallSpeed));
    }
    // A state has no mass: it is measured by itself, and by where its rate would bring it.
    for (let j = 0; j < model.k; j++) {
      const i = 2 * n + j;
      largest[i] = Math.max(largest[i]!, Math.abs(x[i]!));
      fastest[j] = Math.max(fastest[j]!, Math.abs(step.first[i]!));
      allowed[i] = bounds.tolerance * (Math.max(largest[i]!, 1e-3 * fastest[j]! * span) || 1);
    }
  };

  /** Lets events act at the state; the motion where it ends here. */
  const act = (list: number[]): Motion | null => {
    for (const event of list) {
      const item = program.events[event]!;
      motion.events.push({ t, name: item.name });
      if (motion.events.length > MOST_EVENTS) return stop(t, `\`${item.name}\` and others happen too often`);
      if (item.action === 'stop') {
        record(t, x);
        return { ...motion, words: `\`${item.name}\` ends the run at t = ${short(t)}` };
      }
      if (item.action === 'record') continue;
      if (motion.t[motion.t.length - 1] !== t) record(t, x);
      const inTime = ticks.has(event);
      const before = inTime ? 0 : events.slope(event, t, x);
      const seen = model.see(t, x);
      if (!seen) return stop(t, model.trouble);
      const after = reset(model, item, seen.input);
      if ('words' in after) return stop(t, after.words);
      x.set(after.x);
      if (!model.decide(t, x)) return stop(t, model.trouble);
      record(t, x);
      // What happens in time leaves the motion as fast as it was.
      if (inTime) continue;
      h = 0;
      resets.push(t);
      if (resets.length > CROWD && Math.abs(t - resets[resets.length - 1 - CROWD]!) < CROWDED * span) {
        return stop(t, `\`${item.name}\` happens ever more often`);
      }
      // What comes to rest at zero would happen again at once, and for ever.
      if (Math.abs(events.slope(event, t, x)) <= 1e-7 * Math.abs(before)) {
        return stop(t, `\`${item.name}\` would happen again at once`);
      }
    }
    return null;
  };

  const begins = ticks.join(t, []);
  const ended = act(begins);
  if (ended) return ended;
  if (begins.length > 0) events.begin(t, x, []);

  while ((end - t) * direction > 0) {
    if (now() - began > bounds.milliseconds) return stop(t, `this takes longer than ${bounds.milliseconds} ms`);
    // Which rows are independent is decided here, on the constraints.
    if (!model.decide(t, x)) return stop(t, model.trouble);
    if (!model.rates(t, x, step.first)) return stop(t, model.trouble);
    weigh();
    if (h === 0) h = firstStep(step.first, x, allowed, span) * direction;
    // A step that is cut short says nothing of how long the next one may be.
    const goal = ticks.next(t);
    const usual = h;
    if (Math.abs(h) > Math.abs(goal - t)) h = goal - t;
    let error = step.step(t, h, x, allowed);
    while (!(error <= 1)) {
      h *= Number.isFinite(error) ? Math.max(0.2, 0.9 * error ** -0.125) : 0.2;
      if (Math.abs(h) <= 1e-13 * Math.max(Math.abs(t), 1e-3 * span)) {
        return stop(t, model.trouble || 'steps became too small: the motion is singular here, or a force jumps to and fro');
      }
      if (now() - began > bounds.milliseconds) return stop(t, `this takes longer than ${bounds.milliseconds} ms`);
      model.trouble = '';
      error = step.step(t, h, x, allowed);
    }
    const isLast = Math.abs(t + h - goal) <= 1e-12 * span;
    let reached = isLast ? goal : t + h;
    let happened: number[] = [];
    let needsDense = sample <= bounds.samples && (sampleAt(sample) - reached) * direction < 0;
    if (events.count > 0) {
      needsDense = false;
      if (!step.prepare()) return stop(t, model.trouble);
      const found = events.first(step);
      if (found) {
        happened = found.events;
        reached = t + found.theta * step.h;
        step.at(found.theta, trial);
      } else trial.set(step.next);
    } else trial.set(step.next);
    if (needsDense && !step.prepare()) return stop(t, model.trouble);
    const inside = new Float64Array(size);
    for (; sample <= bounds.samples && (sampleAt(sample) - reached) * direction < 0; sample++) {
      const at = sampleAt(sample);
      step.prepare();
      step.at((at - step.t) / step.h, inside);
      if (!model.project(at, inside) || !record(at, inside)) return stop(at, model.trouble);
    }
    x.set(trial);
    t = reached;
    if (!model.project(t, x)) return stop(t, model.trouble || 'the constraints cannot be met');
    if (!x.every(Number.isFinite)) return stop(t, 'the state is no number any more');
    h *= Math.min(6, error === 0 ? 6 : 0.9 * error ** -0.125);
    if (isLast && Math.abs(h) < Math.abs(usual)) h = usual;
    happened = ticks.join(t, happened);
    const over = act(happened);
    if (over) return over;
    if (happened.length > 0) events.begin(t, x, happened);
  }
  if (motion.t[motion.t.length - 1] !== t && !record(t, x)) return stop(t, model.trouble);
  return motion;
}

/** A first step that a motion with such rates should bear. */
function firstStep(rates: Float64Array, x: Float64Array, allowed: Float64Array, span: number): number {
  let [position, rate] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    position = Math.max(position, Math.abs(x[i]!) / allowed[i]!);
    rate = Math.max(rate, Math.abs(rates[i]!) / allowed[i]!);
  }
  const h = rate > 0 && position > 0 ? (0.01 * position) / rate : 1e-6 * span;
  return Math.min(Math.max(h, 1e-9 * span), 1e-2 * span);
}

function now(): number {
  return performance.now();
}

/** Six digits. */
export function short(x: number): string {
  return String(Number(x.toPrecision(6)));
}
