/**
 * The point nearest to a guess, in a metric, that satisfies equations:
 *
 *     minimize ½ (x − g)ᵀ M (x − g)   subject to   e(x) = 0.
 *
 * First Newton steps of least length until the equations are met, then steps along them towards the
 * guess; as `crates/simulate/src/points/nearest.rs` does it, so that both find the same start.
 */

import { Gauss } from './gauss.ts';

const RANK = 1e-7;
const MET = 1e-9;

export interface Equations {
  /** How many unknowns and equations. */
  unknowns: number;
  count: number;
  /** Residuals and their derivatives, row by row; false where they are no numbers. */
  evaluate(x: Float64Array, residuals: Float64Array, rows: Float64Array): boolean;
  metric(x: Float64Array, into: Float64Array): boolean;
}

export class Nearest {
  private readonly gauss: Gauss;
  private readonly residuals: Float64Array;
  private readonly rows: Float64Array;
  private readonly right: Float64Array;
  private readonly metric: Float64Array;
  /** The equations that were missed most. */
  missed: number[] = [];

  constructor(private readonly of: Equations) {
    const { unknowns: n, count } = of;
    this.gauss = new Gauss(n, Math.max(count, 1));
    this.residuals = new Float64Array(Math.max(count, 1));
    this.rows = new Float64Array(Math.max(count, 1) * n);
    this.right = new Float64Array(Math.max(count, 1));
    this.metric = new Float64Array(n * n);
  }

  /** The point, or null if the equations cannot be met from here. */
  find(guess: Float64Array, isNearest: boolean): Float64Array | null {
    if (this.of.unknowns === 0) return this.of.evaluate(guess, this.residuals, this.rows) && this.isMet(guess) ? guess : null;
    for (let attempt = 0; attempt < 12; attempt++) {
      const x = this.reach(moved(guess, attempt));
      if (x) return isNearest && this.of.count > 0 ? this.polish(x, guess) : x;
    }
    return null;
  }

  private sizes(x: Float64Array): Float64Array {
    let largest = 0;
    for (const value of x) largest = Math.max(largest, Math.abs(value));
    return x.map((value) => Math.abs(value) || largest || 1);
  }

  /** How far equations are off, each as a part of its terms. */
  private isMet(x: Float64Array): boolean {
    const n = this.of.unknowns;
    const sizes = this.sizes(x);
    const off: [number, number][] = [];
    for (let j = 0; j < this.of.count; j++) {
      let terms = 0;
      for (let i = 0; i < n; i++) terms += Math.abs(this.rows[j * n + i]!) * sizes[i]!;
      const left = Math.abs(this.residuals[j]!);
      if (!(left <= MET * Math.max(terms, terms === 0 ? 1 : 0))) off.push([terms > 0 ? left / terms : left, j]);
    }
    off.sort((a, b) => b[0] - a[0]);
    this.missed = off.map((pair) => pair[1]);
    return off.length === 0;
  }

  /** The size of what is left, rows measured as they are at a point. */
  private merit(weights: Float64Array): number {
    let sum = 0;
    for (let j = 0; j < this.of.count; j++) sum += (this.residuals[j]! * weights[j]!) ** 2;
    return sum;
  }

  private reach(from: Float64Array): Float64Array | null {
    const { of, gauss, residuals, rows, right } = this;
    const n = of.unknowns;
    let x: Float64Array = from.slice();
    if (!of.evaluate(x, residuals, rows)) return null;
    for (let round = 0; round < 80 && of.count > 0; round++) {
      gauss.forget();
      if (!of.metric(x, this.metric) || !gauss.set(this.metric, rows, of.count, RANK)) return null;
      const weights = new Float64Array(of.count);
      for (let j = 0; j < of.count; j++) {
        right[j] = -residuals[j]!;
        let square = 0;
        for (let i = 0; i < n; i++) square += rows[j * n + i]! ** 2;
        weights[j] = square > 0 ? 1 / Math.sqrt(square) : 1;
      }
      const before = this.merit(weights);
      if (before === 0) return x;
      gauss.solve(null, right);
      const step = gauss.v.slice();
      let next: Float64Array | null = null;
      for (let part = 1; part > 1e-9; part /= 2) {
        const tried = x.map((value, i) => value + part * step[i]!);
        if (of.evaluate(tried, residuals, rows) && this.merit(weights) < before) {
          next = tried;
          break;
        }
      }
      if (!next) {
        of.evaluate(x, residuals, rows);
        break;
      }
      x = next;
    }
    return this.isMet(x) ? x : null;
  }

  /** The step along the equations towards the guess, and its length. */
  private towards(x: Float64Array, guess: Float64Array): { step: Float64Array; length: number; lambda: Float64Array } | null {
    const { of, gauss } = this;
    const n = of.unknowns;
    if (!of.evaluate(x, this.residuals, this.rows) || !of.metric(x, this.metric)) return null;
    gauss.forget();
    if (!gauss.set(this.metric, this.rows, of.count, RANK)) return null;
    const force = new Float64Array(n);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) force[i]! += this.metric[i * n + j]! * (guess[j]! - x[j]!);
    for (let j = 0; j < of.count; j++) this.right[j] = -this.residuals[j]!;
    gauss.solve(force, this.right);
    return { step: gauss.v.slice(), length: this.length(gauss.v, x), lambda: gauss.lambda.slice() };
  }

  private length(step: Float64Array, x: Float64Array): number {
    const sizes = this.sizes(x);
    return step.reduce((most, d, i) => Math.max(most, Math.abs(d) / sizes[i]!), 0);
  }

  private distance(metric: Float64Array, x: Float64Array, guess: Float64Array): number {
    const n = x.length;
    let sum = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) sum += metric[i * n + j]! * (x[i]! - guess[i]!) * (x[j]! - guess[j]!);
    return sum;
  }

  private polish(from: Float64Array, guess: Float64Array): Float64Array {
    let x = from;
    let towards = this.towards(x, guess);
    for (let round = 0; round < 80 && towards && towards.length > 1e-15; round++) {
      const metric = this.metric.slice();
      const distance = this.distance(metric, x, guess);
      let next: Float64Array | null = null;
      const curved = this.curved(x, guess, metric, towards.lambda);
      if (curved) {
        const there = this.reach(x.map((value, i) => value + curved[i]!));
        const after = there && this.towards(there, guess);
        if (there && after && after.length < 0.5 * towards.length && this.distance(metric, there, guess) <= distance * (1 + 1e-12)) next = there;
      }
      const { step } = towards;
      for (let part = 1; !next && part > 1e-4; part /= 2) {
        const there = this.reach(x.map((value, i) => value + part * step[i]!));
        if (there && this.distance(metric, there, guess) < distance) next = there;
      }
      if (!next) break;
      x = next;
      towards = this.towards(x, guess);
    }
    return x;
  }

  /** Newton's step for M(x − g) = Jᵀλ, e = 0: M is joined by −Σ λ_j ∂²e_j, from differences of J. */
  private curved(x: Float64Array, guess: Float64Array, metric: Float64Array, lambda: Float64Array): Float64Array | null {
    const { of } = this;
    const n = of.unknowns;
    const sizes = this.sizes(x);
    const [residuals, rows] = [new Float64Array(this.residuals.length), new Float64Array(this.rows.length)];
    const pull = (at: Float64Array): Float64Array | null => {
      if (!of.evaluate(at, residuals, rows)) return null;
      const sum = new Float64Array(n);
      for (let j = 0; j < of.count; j++) for (let i = 0; i < n; i++) sum[i]! += rows[j * n + i]! * lambda[j]!;
      return sum;
    };
    const before = pull(x);
    const own = rows.slice();
    if (!before) return null;
    const sum = metric.slice();
    for (let i = 0; i < n; i++) {
      const small = 1e-7 * sizes[i]!;
      const at = x.slice();
      at[i]! += small;
      const after = pull(at);
      if (!after) return null;
      for (let j = 0; j < n; j++) {
        const slope = (after[j]! - before[j]!) / small;
        sum[i * n + j]! -= 0.5 * slope;
        sum[j * n + i]! -= 0.5 * slope;
      }
    }
    // Positive across the solution set too, which changes nothing along it.
    let most = 0;
    for (let k = 0; k < n * n; k++) most = Math.max(most, Math.abs(sum[k]! * sizes[Math.floor(k / n)]! * sizes[k % n]!));
    for (let j = 0; j < of.count; j++) {
      let square = 0;
      for (let i = 0; i < n; i++) square += (own[j * n + i]! * sizes[i]!) ** 2;
      if (!(square > 0)) continue;
      for (let a = 0; a < n; a++) for (let b = 0; b < n; b++) sum[a * n + b]! += (2 * most * own[j * n + a]! * own[j * n + b]!) / square;
    }
    const gauss = new Gauss(n, Math.max(of.count, 1));
    if (!gauss.set(sum, own, of.count, RANK) || !gauss.unique) return null;
    const force = new Float64Array(n);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) force[i]! += metric[i * n + j]! * (guess[j]! - x[j]!);
    of.evaluate(x, residuals, rows);
    const right = residuals.map((r) => -r);
    gauss.solve(force, right);
    return gauss.v.every(Number.isFinite) ? gauss.v : null;
  }
}

/**
 * The guess, moved off singular points from the second attempt on: by the numbers of
 * `crates/expr/src/random.rs`, so that of two points that are equally near the same one is found.
 */
function moved(guess: Float64Array, attempt: number): Float64Array {
  if (attempt === 0) return guess;
  let largest = 0;
  for (const value of guess) largest = Math.max(largest, Math.abs(value));
  let state = 0x9e3779b97f4a7c15n ^ BigInt(attempt);
  const size = 0.02 * 1.7 ** (attempt - 1);
  return guess.map((value) => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    const signed = Number(state >> 33n) / 2 ** 30 - 1;
    return value + size * (Math.abs(value) || largest || 1) * signed;
  });
}
