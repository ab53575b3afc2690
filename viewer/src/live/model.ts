/** A program with numbers for its parameters: rates, projections, and what is seen of a state. */

import { Gauss } from './gauss.ts';
import { tapes, type Program, type Relation, type Tape } from './program.ts';

/** Rows are dependent below this. */
export const RANK = 1e-9;
/** Digits that equations of a search may miss. */
const ROUNDING = 1e-14;

/** What a state looks like. */
export interface Seen {
  a: Float64Array;
  lambda: Float64Array;
  open: boolean[];
  /** Qᶜ = Γ q̈ − F. */
  force: Float64Array;
  /** The inputs of what is seen. */
  input: Float64Array;
}

export class Model {
  readonly n: number;
  readonly m: number;
  /** How many states. */
  readonly k: number;
  /** How many numbers a state of the motion has: q, q̇, z. */
  readonly size: number;
  readonly functions: Record<string, Tape>;
  /** Why the last thing asked for is not there. */
  trouble = '';
  evaluations = 0;
  readonly metric: Float64Array;
  readonly a: Float64Array;
  readonly bias: Float64Array;
  private readonly force: Float64Array;
  private readonly total: Float64Array;
  private readonly gauss: Gauss;
  private readonly positions: Gauss;
  private readonly velocities: Gauss;
  private readonly input: Float64Array;
  private readonly output: Float64Array;
  private readonly behind: Float64Array;
  private readonly coupled: Float64Array;
  private readonly residuals: Float64Array;
  private readonly phiQ: Float64Array;
  private readonly psiV: Float64Array;
  private readonly right: Float64Array;
  private readonly stateRates: Float64Array;
  private isDecided = false;

  constructor(readonly program: Program) {
    const { n, m, terms, rows } = program;
    const k = program.states.length;
    [this.n, this.m, this.k, this.size] = [n, m, k, 2 * n + k];
    this.functions = tapes(program);
    this.stateRates = new Float64Array(k);
    const size = Math.max(m, 1);
    this.metric = new Float64Array(n * n);
    this.a = new Float64Array(size * n);
    this.bias = new Float64Array(size);
    this.force = new Float64Array(n);
    this.total = new Float64Array(n);
    const { groups } = program;
    this.gauss = new Gauss(n, size, groups);
    this.positions = new Gauss(n, Math.max(rows.phi.length, 1), rows.phi.map((row) => groups[row]!));
    this.velocities = new Gauss(n, Math.max(rows.psi.length, 1), rows.psi.map((row) => groups[row]!));
    const hidden = program.behind ? n : 0;
    this.behind = new Float64Array(hidden);
    this.coupled = new Float64Array(program.coupled.length);
    this.input = new Float64Array(1 + this.size + hidden + program.coupled.length);
    this.output = new Float64Array(terms.metric.length + 4 * n + terms.jacobian.length + m + terms.slopes.length);
    this.residuals = new Float64Array(rows.phi.length + rows.psi.length + rows.jacobian.length);
    this.phiQ = new Float64Array(rows.phi.length * n);
    this.psiV = new Float64Array(rows.psi.length * n);
    this.right = new Float64Array(Math.max(rows.phi.length, rows.psi.length, 1));
  }

  /** Takes the values of the parameters; those that are defined by others follow. */
  set(values: Float64Array): void {
    const all = new Float64Array(values.length);
    const own = this.functions['parameters']!;
    own.prepare(new Float64Array(0));
    own.call(values, all);
    for (const [name, tape] of Object.entries(this.functions)) if (name !== 'parameters') tape.prepare(all);
    this.isDecided = false;
    for (const gauss of [this.gauss, this.positions, this.velocities]) gauss.forget();
    this.behind.fill(0);
    this.coupled.fill(0);
  }

  /** Sets t, q, q̇, z and finds what stands behind them. */
  private load(t: number, x: Float64Array): boolean {
    const { size, input } = this;
    input[0] = t;
    for (let i = 0; i < size; i++) input[1 + i] = x[i]!;
    if (this.program.behind) {
      const first = 1 + size;
      const found = newton(this.functions[this.program.behind.tape]!, this.program.behind, input, first, this.behind);
      if (!found) {
        this.trouble = 'velocities do not determine momenta here';
        return false;
      }
    }
    const first = input.length - this.coupled.length;
    for (let k = 0; k < this.coupled.length; k++) input[first + k] = this.coupled[k]!;
    return true;
  }

  /** Evaluates Γ, F + C, A and b. */
  evaluate(t: number, x: Float64Array): boolean {
    if (!this.load(t, x)) return false;
    this.terms();
    this.metric.fill(0);
    this.a.fill(0);
    const { metric, jacobian } = this.program.terms;
    metric.forEach((place, at) => (this.metric[place] = this.output[at]!));
    const first = metric.length + 2 * this.n;
    jacobian.forEach((place, at) => (this.a[place] = this.output[first + at]!));
    for (let j = 0; j < this.m; j++) this.bias[j] = this.output[first + jacobian.length + j]!;
    return true;
  }

  private terms(): void {
    const { n, output } = this;
    this.evaluations++;
    this.functions['terms']!.call(this.input, output);
    const first = this.program.terms.metric.length;
    for (let i = 0; i < n; i++) {
      this.force[i] = output[first + i]!;
      this.total[i] = output[first + i]! + output[first + n + i]!;
    }
  }

  /** q̈ at a state, by the rows of the last decision; false where there is none. */
  solve(t: number, x: Float64Array, decide: boolean): boolean {
    if (!this.evaluate(t, x)) return false;
    const { gauss } = this;
    const isAnew = decide || !this.isDecided;
    if (!gauss.set(this.metric, this.a, this.m, isAnew ? RANK : null)) {
      if (isAnew || !gauss.set(this.metric, this.a, this.m, RANK)) {
        this.trouble = 'forces or masses are no numbers here';
        return false;
      }
    }
    this.isDecided = true;
    gauss.solve(this.total, this.bias);
    if (this.coupled.length > 0 && !this.couple()) return false;
    if (!gauss.unique) {
      this.trouble = gauss.contradicts
        ? 'the equations contradict each other here: a constraint is implied that is not written'
        : 'the motion is not unique here: the masses leave an acceleration undetermined';
      return false;
    }
    for (let i = 0; i < this.n; i++) {
      if (Number.isFinite(gauss.v[i]!)) continue;
      this.trouble = 'accelerations are no numbers here';
      return false;
    }
    return true;
  }

  /**
   * Forces that depend on multipliers: with ∂(F + C)/∂λ, the multipliers of the solution are affine in those
   * that forces are taken with, as long as no branch turns; Newton's method beyond that.
   */
  private couple(): boolean {
    const { n, gauss, coupled, output, program } = this;
    const count = coupled.length;
    const first = output.length - program.terms.slopes.length;
    for (let round = 0; round < 30; round++) {
      const slopes = new Float64Array(n * count);
      program.terms.slopes.forEach((place, at) => (slopes[place] = output[first + at]!));
      const matrix = new Float64Array(count * count);
      const next = new Float64Array(count);
      program.coupled.forEach((row, k) => (next[k] = gauss.lambda[row]! - coupled[k]!));
      for (let l = 0; l < count; l++) {
        const column = new Float64Array(n);
        for (let i = 0; i < n; i++) column[i] = slopes[i * count + l]!;
        gauss.solve(column, null);
        program.coupled.forEach((row, k) => (matrix[k * count + l] = (k === l ? 1 : 0) - gauss.lambda[row]!));
      }
      if (!eliminate(matrix, next, count)) break;
      let [change, size] = [0, 0];
      for (let k = 0; k < count; k++) {
        coupled[k]! += next[k]!;
        change = Math.max(change, Math.abs(next[k]!));
        size = Math.max(size, Math.abs(coupled[k]!));
      }
      if (!Number.isFinite(change)) break;
      for (let k = 0; k < count; k++) this.input[this.input.length - count + k] = coupled[k]!;
      this.terms();
      gauss.solve(this.total, this.bias);
      if (change <= ROUNDING * 100 * size) return true;
    }
    coupled.fill(0);
    this.trouble = 'friction and the force it goes by do not settle here: it may stick';
    return false;
  }

  /** The rates of (q, q̇, z). */
  rates(t: number, x: Float64Array, into: Float64Array): boolean {
    if (!this.solve(t, x, false)) return false;
    const { n } = this;
    for (let i = 0; i < n; i++) {
      into[i] = x[n + i]!;
      into[n + i] = this.gauss.v[i]!;
    }
    if (this.k > 0) {
      this.functions['states']!.call(this.input, this.stateRates);
      into.set(this.stateRates, 2 * n);
    }
    return true;
  }

  /** φ or ψ and their derivatives at the state that was evaluated last; how many there are. */
  private level(level: 0 | 1): number {
    const { n, residuals } = this;
    const { phi, psi, jacobian } = this.program.rows;
    this.functions['rows']!.call(this.input, residuals);
    if (level === 0) {
      this.phiQ.fill(0);
      jacobian.forEach((place, at) => (this.phiQ[place] = residuals[phi.length + psi.length + at]!));
    } else psi.forEach((row, j) => this.psiV.set(this.a.subarray(row * n, (row + 1) * n), j * n));
    const [first, count] = level === 0 ? [0, phi.length] : [phi.length, psi.length];
    for (let j = 0; j < count; j++) this.right[j] = -residuals[first + j]!;
    return count;
  }

  /**
   * Decides which rows are independent, at a state on the constraints. Next to it those that depend on each
   * other there are independent by an amount that is all drift.
   */
  decide(t: number, x: Float64Array): boolean {
    if (!this.solve(t, x, true)) return false;
    for (const level of [0, 1] as const) {
      const [gauss, matrix] = level === 0 ? [this.positions, this.phiQ] : [this.velocities, this.psiV];
      const count = this.level(level);
      if (count > 0 && !gauss.set(this.metric, matrix, count, RANK)) return false;
    }
    return true;
  }

  /** Puts a state back onto the constraints, in place, by the rows of the last decision. */
  project(t: number, x: Float64Array): boolean {
    const { n } = this;
    if (this.program.rows.psi.length === 0) return true;
    for (const level of [0, 1] as const) {
      const [gauss, matrix] = level === 0 ? [this.positions, this.phiQ] : [this.velocities, this.psiV];
      let last = Infinity;
      for (let round = 0; round < 6; round++) {
        if (!this.evaluate(t, x)) return false;
        const count = this.level(level);
        if (count === 0) break;
        if (!gauss.set(this.metric, matrix, count, null) && !gauss.set(this.metric, matrix, count, RANK)) {
          this.trouble = 'constraints are no numbers here';
          return false;
        }
        gauss.solve(null, this.right);
        let [move, size] = [0, 0];
        for (let i = 0; i < n; i++) {
          move = Math.max(move, Math.abs(gauss.v[i]!) / gauss.units[i]!);
          size = Math.max(size, Math.abs(x[level * n + i]!) / gauss.units[i]!);
        }
        if (Number.isNaN(move)) return false;
        if (!(move < 0.5 * last)) break;
        for (let i = 0; i < n; i++) x[level * n + i]! += gauss.v[i]!;
        last = move;
        // What is left is the square of it.
        if (move <= 1e-7 * size) break;
      }
    }
    return true;
  }

  /** Everything at a state on the constraints. */
  see(t: number, x: Float64Array): Seen | null {
    const { n, m, k, program, gauss, output } = this;
    if (!this.solve(t, x, true)) return null;
    const { lambda, open } = gauss.multipliers();
    const a = gauss.v.slice();
    const force = new Float64Array(n);
    const input = new Float64Array(this.seen);
    const momenta = program.terms.metric.length + 2 * n + program.terms.jacobian.length + m;
    input[0] = t;
    for (let i = 0; i < n; i++) {
      let moved = 0;
      for (let j = 0; j < n; j++) moved += this.metric[i * n + j]! * a[j]!;
      force[i] = moved - this.force[i]!;
      input[1 + i] = x[i]!;
      input[1 + n + i] = x[n + i]!;
      input[1 + 2 * n + i] = output[momenta + i]!;
      input[1 + 3 * n + i] = a[i]!;
      input[1 + 4 * n + i] = moved + output[momenta + n + i]!;
    }
    for (let j = 0; j < k; j++) input[1 + 5 * n + j] = x[2 * n + j]!;
    program.unknowns.forEach((unknown, at) => {
      let value: number;
      if ('multiplier' in unknown) value = open[unknown.multiplier] ? NaN : lambda[unknown.multiplier]!;
      else if ('reaction' in unknown) value = force[unknown.reaction]!;
      else {
        const [i, row] = unknown.share;
        value = open[row] ? NaN : this.a[row * n + i]! * lambda[row]!;
      }
      input[1 + 5 * n + k + at] = value;
    });
    return { a, lambda, open, force, input };
  }

  /** How many inputs there are of what is seen. */
  get seen(): number {
    return 1 + 5 * this.n + this.k + this.program.unknowns.length;
  }

  /** t, q, q̇, p and z at a state, as events that speak of no more need them. */
  plain(t: number, x: Float64Array, into: Float64Array): boolean {
    const { n, program } = this;
    into.fill(NaN);
    into[0] = t;
    for (let i = 0; i < 2 * n; i++) into[1 + i] = x[i]!;
    for (let j = 0; j < this.k; j++) into[1 + 5 * n + j] = x[2 * n + j]!;
    if (!program.momenta && !program.behind) return true;
    if (!this.load(t, x)) return false;
    this.terms();
    const momenta = program.terms.metric.length + 2 * n + program.terms.jacobian.length + this.m;
    for (let i = 0; i < n; i++) into[1 + 2 * n + i] = this.output[momenta + i]!;
    return true;
  }
}

/** Newton's method for unknowns among the inputs of a relation, from `guess`, which it replaces. */
export function newton(tape: Tape, relation: Relation, input: Float64Array, first: number, guess: Float64Array): boolean {
  const n = relation.count;
  const y = new Float64Array(n + relation.places.length);
  const matrix = new Float64Array(n * n);
  const step = new Float64Array(n);
  const size = (): number => {
    for (let i = 0; i < n; i++) input[first + i] = guess[i]!;
    tape.call(input, y);
    let sum = 0;
    for (let i = 0; i < n; i++) sum += y[i]! * y[i]!;
    return sum;
  };
  let left = size();
  for (let round = 0; round < 60; round++) {
    if (!Number.isFinite(left)) return false;
    if (left === 0) return true;
    matrix.fill(0);
    relation.places.forEach((place, at) => (matrix[place] = y[n + at]!));
    for (let i = 0; i < n; i++) step[i] = -y[i]!;
    if (!eliminate(matrix, step, n)) return false;
    const before = guess.slice();
    let [part, isBetter, largest, moved] = [1, false, 0, 0];
    for (let i = 0; i < n; i++) {
      largest = Math.max(largest, Math.abs(before[i]!));
      moved = Math.max(moved, Math.abs(step[i]!));
    }
    for (let halvings = 0; halvings < 40; halvings++, part /= 2) {
      for (let i = 0; i < n; i++) guess[i] = before[i]! + part * step[i]!;
      const next = size();
      if (next < left) {
        [left, isBetter] = [next, true];
        break;
      }
    }
    if (!isBetter) {
      guess.set(before);
      size();
      return moved <= 1e-10 * Math.max(largest, 1e-300);
    }
    if (moved <= ROUNDING * largest) return true;
  }
  return false;
}

/** Solves a dense system in place; false if it is singular. */
export function eliminate(a: Float64Array, x: Float64Array, n: number): boolean {
  for (let c = 0; c < n; c++) {
    let p = c;
    for (let i = c + 1; i < n; i++) if (Math.abs(a[i * n + c]!) > Math.abs(a[p * n + c]!)) p = i;
    const pivot = a[p * n + c]!;
    if (!(Math.abs(pivot) > 0)) return false;
    if (p !== c) {
      for (let j = 0; j < n; j++) [a[c * n + j], a[p * n + j]] = [a[p * n + j]!, a[c * n + j]!];
      [x[c], x[p]] = [x[p]!, x[c]!];
    }
    for (let i = c + 1; i < n; i++) {
      const f = a[i * n + c]! / pivot;
      if (f === 0) continue;
      for (let j = c; j < n; j++) a[i * n + j]! -= f * a[c * n + j]!;
      x[i]! -= f * x[c]!;
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let j = i + 1; j < n; j++) x[i]! -= a[i * n + j]! * x[j]!;
    x[i]! /= a[i * n + i]!;
  }
  return true;
}
