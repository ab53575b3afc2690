/** Consistent starts, and states after an event: values that are given stay, others move least. */

import { Model } from './model.ts';
import { Nearest, type Equations } from './nearest.ts';
import type { EventItem, Relation } from './program.ts';

/** Most turns between states and motion. */
const MOST_TURNS = 60;

/** A state, or words on why there is none. */
export type State = { x: Float64Array } | { words: string };

/** A list of equations made of relations, for those of the unknowns of a level that are free. */
class Level implements Equations {
  readonly unknowns: number;
  readonly count: number;
  private readonly input: Float64Array;
  private readonly parts: { call: (y: Float64Array) => void; relation: Relation; shift: Float64Array | null; y: Float64Array }[];

  constructor(
    private readonly model: Model,
    private readonly level: 0 | 1,
    private readonly free: number[],
    state: Float64Array,
    relations: { relation: Relation; shift: Float64Array | null }[],
  ) {
    this.unknowns = free.length;
    this.input = state.slice();
    this.parts = relations.map(({ relation, shift }) => ({
      call: (y) => model.functions[relation.tape]!.call(this.input, y),
      relation,
      shift,
      y: new Float64Array(relation.count + relation.places.length),
    }));
    this.count = relations.reduce((sum, r) => sum + r.relation.count, 0);
  }

  private take(x: Float64Array): void {
    const first = 1 + this.level * this.model.n;
    this.free.forEach((i, at) => (this.input[first + i] = x[at]!));
  }

  evaluate(x: Float64Array, residuals: Float64Array, rows: Float64Array): boolean {
    this.take(x);
    const { n } = this.model;
    const dense = new Float64Array(n);
    let row = 0;
    for (const { call, relation, shift, y } of this.parts) {
      call(y);
      let entry = 0;
      for (let j = 0; j < relation.count; j++, row++) {
        residuals[row] = y[j]! - (shift ? shift[j]! : 0);
        dense.fill(0);
        for (; entry < relation.places.length && Math.floor(relation.places[entry]! / n) === j; entry++) {
          dense[relation.places[entry]! % n] = y[relation.count + entry]!;
        }
        this.free.forEach((i, at) => (rows[row * this.unknowns + at] = dense[i]!));
        if (!Number.isFinite(residuals[row]!) || !dense.every(Number.isFinite)) return false;
      }
    }
    return true;
  }

  metric(x: Float64Array, into: Float64Array): boolean {
    this.take(x);
    const { n, program, functions } = this.model;
    const places = program.metrics[this.level];
    const y = new Float64Array(places.length);
    functions[`metric${this.level}`]!.call(this.input, y);
    const dense = new Float64Array(n * n);
    places.forEach((place, at) => (dense[place] = y[at]!));
    const size = this.unknowns;
    this.free.forEach((i, a) => this.free.forEach((j, b) => (into[a * size + b] = dense[i * n + j]!)));
    return into.every(Number.isFinite);
  }
}

/** The equations of open states, with the motion held. */
class OpenStates implements Equations {
  readonly unknowns: number;
  readonly count: number;
  private readonly input: Float64Array;
  private readonly y: Float64Array;

  constructor(
    private readonly model: Model,
    state: Float64Array,
  ) {
    const { open, relation } = model.program.start.states;
    [this.unknowns, this.count] = [open.length, relation.count];
    this.input = state.slice();
    this.y = new Float64Array(relation.count + relation.places.length);
  }

  evaluate(x: Float64Array, residuals: Float64Array, rows: Float64Array): boolean {
    const { open, relation } = this.model.program.start.states;
    open.forEach((j, at) => (this.input[1 + 2 * this.model.n + j] = x[at]!));
    this.model.functions[relation.tape]!.call(this.input, this.y);
    residuals.set(this.y.subarray(0, this.count));
    rows.fill(0);
    relation.places.forEach((place, at) => (rows[place] = this.y[this.count + at]!));
    return this.y.every(Number.isFinite);
  }

  metric(_: Float64Array, into: Float64Array): boolean {
    into.fill(0);
    for (let i = 0; i < this.unknowns; i++) into[i * this.unknowns + i] = 1;
    return true;
  }
}

/** The consistent start, with values that take the place of those of the model. */
export function start(model: Model, values: Record<string, number>): State {
  const { n, program, functions } = model;
  const { states } = program.start;
  const given = new Float64Array(program.start.values);
  const times = new Float64Array(2);
  functions['times']!.call(new Float64Array(0), times);
  const t = times[0]!;
  const state = new Float64Array(1 + model.size);
  state[0] = t;
  functions['startValues']!.call(state, given);
  const taken = (name: string): number | undefined => {
    const value = values[name];
    return value !== undefined && Number.isFinite(value) ? value : undefined;
  };
  const first = 1 + 2 * n;
  // What holds comes behind what is guessed.
  for (const holds of [false, true]) for (const item of states.given) if (item.holds === holds) state[first + item.state] = given[item.at]!;
  program.states.forEach((name, j) => (state[first + j] = taken(name) ?? state[first + j]!));
  // Positions and velocities are found with the states held, then open states with the motion held.
  for (let turn = 0; ; turn++) {
    state.fill(0, 1, first);
    const words = motion(model, state, given, taken);
    if (words) return { words };
    if (states.open.length === 0) break;
    const found = new Nearest(new OpenStates(model, state)).find(Float64Array.from(states.open, (j) => state[first + j]!), true);
    if (!found || turn >= MOST_TURNS) return { words: `no value of ${states.open.map((j) => program.states[j]).join(', ')} goes with the rest of the start` };
    let isSettled = true;
    states.open.forEach((j, at) => {
      if (!(Math.abs(found[at]! - state[first + j]!) <= 4 * Number.EPSILON * Math.abs(found[at]!))) isSettled = false;
      state[first + j] = found[at]!;
    });
    if (isSettled) break;
  }
  return { x: rates(model, state) };
}

/** Positions and rates of a start, with its states held: words where there are none. */
function motion(model: Model, state: Float64Array, given: Float64Array, taken: (name: string) => number | undefined): string {
  const { n, program, functions } = model;
  const { items, relations } = program.start;
  const names = [program.coordinates, program.rates];
  for (const item of items) {
    if (item.unknown !== null && !item.holds) state[1 + item.level * n + item.unknown] = given[item.at]!;
  }
  for (const level of [0, 1] as const) {
    const isFixed = new Array<boolean>(n).fill(false);
    const first = 1 + level * n;
    // Values of velocities may be made of positions, which are known by now.
    functions['startValues']!.call(state, given);
    for (const item of items) {
      if (item.level !== level || item.unknown === null || !item.holds) continue;
      state[first + item.unknown] = given[item.at]!;
      isFixed[item.unknown] = true;
    }
    names[level]!.forEach((name, i) => {
      const value = taken(name);
      if (value === undefined) return;
      state[first + i] = value;
      isFixed[i] = true;
    });
    const free = isFixed.flatMap((fixed, i) => (fixed ? [] : [i]));
    const relation = relations[level];
    const equations = new Level(model, level, free, state, [
      { relation, shift: null },
      { relation: program.laws[level], shift: null },
    ]);
    const search = new Nearest(equations);
    const found = search.find(Float64Array.from(free, (i) => state[first + i]!), true);
    if (!found) {
      const what = ['positions', program.momenta ? 'momenta' : 'velocities'][level]!;
      return `no ${what} satisfy these values and the constraints together`;
    }
    free.forEach((i, at) => (state[first + i] = found[at]!));
  }
  return '';
}

/** (q, q̇, z) of a state in the model's own rates. */
function rates(model: Model, state: Float64Array): Float64Array {
  const { n, program } = model;
  const x = state.slice(1);
  if (program.momenta) model.functions['velocities']!.call(state, x.subarray(n, 2 * n));
  return x;
}

/** The state after a reset, from the one before and what is seen of it. */
export function reset(model: Model, event: EventItem, seen: Float64Array): State {
  const { n, program } = model;
  const own = event.reset!;
  const words = `the reset of \`${event.name}\` cannot be met`;
  const values = new Float64Array(own.count);
  model.functions[own.values]!.call(seen, values);
  if (!values.every(Number.isFinite)) return { words };
  const state = new Float64Array(1 + model.size);
  state[0] = seen[0]!;
  for (let j = 0; j < model.k; j++) state[1 + 2 * n + j] = seen[1 + 5 * n + j]!;
  for (let i = 0; i < n; i++) {
    state[1 + i] = seen[1 + i]!;
    state[1 + n + i] = seen[1 + (program.momenta ? 2 : 1) * n + i]!;
  }
  for (const level of [0, 1] as const) {
    const { values: which, unknowns, relation } = own.levels[level];
    if (level === 0 && which.length === 0) continue;
    const first = 1 + level * n;
    const isFixed = new Array<boolean>(n).fill(false);
    // A coordinate that is listed is unknown no longer; velocities move by impulses, which equations have.
    if (level === 0) {
      which.forEach((value, at) => {
        const unknown = unknowns[at];
        if (unknown === null || unknown === undefined) return;
        // States stand behind the rates.
        if (unknown >= n) state[1 + n + unknown] = values[value]!;
        else [state[1 + unknown], isFixed[unknown]] = [values[value]!, true];
      });
    }
    const free = isFixed.flatMap((fixed, i) => (fixed ? [] : [i]));
    const listed = which.filter((_, at) => level === 1 || unknowns[at] === null);
    const shift = Float64Array.from(listed, (value) => values[value]!);
    const equations = new Level(model, level, free, state, [
      { relation, shift },
      { relation: program.laws[level], shift: null },
    ]);
    const found = new Nearest(equations).find(Float64Array.from(free, (i) => state[first + i]!), true);
    if (!found) return { words };
    free.forEach((i, at) => (state[first + i] = found[at]!));
  }
  return { x: rates(model, state) };
}
