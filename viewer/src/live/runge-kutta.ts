/**
 * DOP853: a step of order 8 with an estimate of its error and a dense output of order 7. For motions
 * that are smooth and not stiff.
 */

import { A, ALL_STAGES, B, C, D, E3, E5, STAGES, type Row } from './tableau.ts';

/** ẋ of a state; false where there is none. */
export type Rates = (t: number, x: Float64Array, into: Float64Array) => boolean;

export class RungeKutta {
  readonly size: number;
  t = 0;
  h = 0;
  readonly old: Float64Array;
  /** The state at the end of the last step. */
  readonly next: Float64Array;
  private readonly k: Float64Array[];
  private readonly y: Float64Array;
  private readonly dense: Float64Array[];
  private hasDense = false;

  constructor(
    size: number,
    private readonly rates: Rates,
  ) {
    this.size = size;
    const room = (): Float64Array => new Float64Array(size);
    this.k = Array.from({ length: ALL_STAGES }, room);
    this.dense = Array.from({ length: 7 }, room);
    [this.old, this.next, this.y] = [room(), room(), room()];
  }

  /** The rates at the beginning of the next step. */
  get first(): Float64Array {
    return this.k[0]!;
  }

  private combine(row: Row, into: Float64Array): void {
    into.set(this.old);
    for (const [stage, a] of row) {
      const k = this.k[stage]!;
      const weight = this.h * a;
      for (let i = 0; i < this.size; i++) into[i]! += weight * k[i]!;
    }
  }

  /**
   * Tries a step from x, where the rates are in `first`. Its error, the largest of all components, each
   * in units of what it may be off by; infinite where there are no rates.
   */
  step(t: number, h: number, x: Float64Array, allowed: Float64Array): number {
    [this.t, this.h, this.hasDense] = [t, h, false];
    this.old.set(x);
    for (let stage = 1; stage < STAGES; stage++) {
      this.combine(A[stage]!, this.y);
      if (!this.rates(t + C[stage]! * h, this.y, this.k[stage]!)) return Infinity;
    }
    this.combine(B, this.next);
    let worst = 0;
    for (let i = 0; i < this.size; i++) {
      let [five, three] = [0, 0];
      for (const [stage, e] of E5) five += e * this.k[stage]![i]!;
      for (const [stage, e] of E3) three += e * this.k[stage]![i]!;
      const size = Math.max(Math.abs(five), Math.abs(three));
      if (size > 0) {
        const [a, b] = [five / size, three / size];
        const error = (Math.abs(h) * size * a * a) / Math.sqrt(a * a + 0.01 * b * b) / allowed[i]!;
        if (!(error <= worst)) worst = error;
      } else if (Number.isNaN(size)) return Infinity;
    }
    return Number.isNaN(worst) ? Infinity : worst;
  }

  /** Makes states inside the last step available; false where there are no rates. */
  prepare(): boolean {
    if (this.hasDense) return true;
    const { t, h, k, dense } = this;
    if (!this.rates(t + h, this.next, k[STAGES]!)) return false;
    for (let stage = STAGES + 1; stage < ALL_STAGES; stage++) {
      this.combine(A[stage]!, this.y);
      if (!this.rates(t + C[stage]! * h, this.y, k[stage]!)) return false;
    }
    for (let i = 0; i < this.size; i++) {
      const delta = this.next[i]! - this.old[i]!;
      dense[0]![i] = delta;
      dense[1]![i] = h * k[0]![i]! - delta;
      dense[2]![i] = 2 * delta - h * (k[STAGES]![i]! + k[0]![i]!);
      for (let power = 0; power < 4; power++) {
        let sum = 0;
        for (const [stage, d] of D[power]!) sum += d * k[stage]![i]!;
        dense[3 + power]![i] = h * sum;
      }
    }
    this.hasDense = true;
    return true;
  }

  /** The state at a part of the last step. */
  at(theta: number, into: Float64Array): void {
    for (let i = 0; i < this.size; i++) {
      let y = 0;
      for (let power = 6; power >= 0; power--) y = (y + this.dense[power]![i]!) * (power % 2 === 0 ? theta : 1 - theta);
      into[i] = this.old[i]! + y;
    }
  }
}
