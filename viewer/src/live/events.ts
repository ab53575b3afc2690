/**
 * Events: zeros of functions along the dense output of a step.
 *
 * An event is armed on the side of zero it was last seen on; where it has just happened it is at zero,
 * and armed again once it has left. Functions that return to zero between the places that are looked
 * at are missed: these are eight in each step.
 */

import type { Model } from './model.ts';
import type { RungeKutta } from './runge-kutta.ts';

const PLACES = 8;

export class Events {
  /** +1, −1, or 0 at zero. */
  private readonly sides: Int8Array;
  /** Values above this have left zero, once it was there. */
  private readonly thresholds: Float64Array;
  private readonly usual: Float64Array;
  private readonly values: Float64Array;
  private readonly input: Float64Array;
  private readonly x: Float64Array;
  private readonly hasObserved: boolean;

  constructor(private readonly model: Model) {
    const { events, n, unknowns } = model.program;
    this.sides = new Int8Array(events.length);
    this.thresholds = new Float64Array(events.length);
    this.usual = new Float64Array(events.length);
    this.values = new Float64Array(events.length);
    this.input = new Float64Array(1 + 5 * n + unknowns.length);
    this.x = new Float64Array(2 * n);
    this.hasObserved = events.some((event) => event.observed);
  }

  get count(): number {
    return this.sides.length;
  }

  /** The functions at a state. */
  private evaluate(t: number, x: Float64Array): Float64Array {
    const { model, values, input } = this;
    values.fill(NaN);
    if (this.hasObserved) {
      // Which rows are independent is seen at states on the constraints only.
      this.x.set(x);
      const seen = model.project(t, this.x) ? model.see(t, this.x) : null;
      if (!seen) return values;
      input.set(seen.input);
    } else if (!model.plain(t, x, input)) return values;
    model.functions['events']!.call(input, values);
    return values;
  }

  /** Looks where a motion begins, or goes on after an event. */
  begin(t: number, x: Float64Array, happened: number | null): void {
    const values = this.evaluate(t, x);
    for (let k = 0; k < this.count; k++) {
      const value = values[k]!;
      this.usual[k] = Math.max(this.usual[k]!, Math.abs(value) || 0);
      const threshold = 1e-10 * this.usual[k]!;
      const isZero = k === happened || !(Math.abs(value) > threshold);
      this.sides[k] = isZero ? 0 : Math.sign(value);
      this.thresholds[k] = isZero ? Math.max(threshold, 4 * Math.abs(value) || 0) : 0;
    }
  }

  private arm(k: number, value: number): void {
    if (this.sides[k] === 0 && Math.abs(value) > this.thresholds[k]!) this.sides[k] = Math.sign(value);
  }

  /** The first event of a step: which, and at which part of the step. */
  first(step: RungeKutta): { event: number; theta: number } | null {
    const { events } = this.model.program;
    const state = new Float64Array(step.size);
    const value = (k: number, theta: number): number => {
      step.at(theta, state);
      return this.evaluate(step.t + theta * step.h, state)[k]!;
    };
    for (let place = 1; place <= PLACES; place++) {
      const theta = place / PLACES;
      step.at(theta, state);
      const values = this.evaluate(step.t + theta * step.h, state).slice();
      let found: { event: number; theta: number } | null = null;
      for (let k = 0; k < this.count; k++) {
        const own = values[k]!;
        this.usual[k] = Math.max(this.usual[k]!, Math.abs(own) || 0);
        const side = this.sides[k]!;
        if (side !== 0 && own * side <= 0) {
          const { direction } = events[k]!;
          const counts = direction === 'both' || (direction === 'rising') === side < 0;
          if (counts) {
            const at = bisect((part) => value(k, part) * side, theta - 1 / PLACES, theta);
            if (!found || at < found.theta) found = { event: k, theta: at };
          }
        }
      }
      if (found) return found;
      for (let k = 0; k < this.count; k++) {
        const own = values[k]!;
        if (this.sides[k] !== 0 && own !== 0) this.sides[k] = Math.sign(own);
        else this.arm(k, own);
      }
    }
    return null;
  }
}

/** Where a function that is positive at a is no longer: to the last digit, by false position and halving. */
function bisect(f: (x: number) => number, a: number, b: number): number {
  let [fa, fb] = [f(a), f(b)];
  for (let round = 0; round < 100 && b - a > 1e-15; round++) {
    const secant = a + ((b - a) * fa) / (fa - fb);
    const isUseful = round % 3 !== 2 && secant > a && secant < b;
    const x = isUseful ? secant : (a + b) / 2;
    if (x <= a || x >= b) break;
    const value = f(x);
    if (value > 0) [a, fa] = [x, value];
    else if (value <= 0) {
      [b, fb] = [x, value];
      if (value === 0) break;
    } else break;
  }
  return b;
}
