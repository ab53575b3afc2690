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
/** What is left of a function where its zero was located, as a part of its size. */
const LOCATED = 1e-6;

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
    const { events } = model.program;
    this.sides = new Int8Array(events.length);
    this.thresholds = new Float64Array(events.length);
    this.usual = new Float64Array(events.length);
    this.values = new Float64Array(events.length);
    this.input = new Float64Array(model.seen);
    this.x = new Float64Array(model.size);
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
  begin(t: number, x: Float64Array, happened: number[]): void {
    const values = this.evaluate(t, x);
    for (let k = 0; k < this.count; k++) {
      const value = values[k]!;
      this.usual[k] = Math.max(this.usual[k]!, Math.abs(value) || 0);
      const threshold = 1e-13 * this.usual[k]!;
      // A reset may have taken its own event off zero, as one that sets when it happens next.
      const hasHappened = happened.includes(k) && !(Math.abs(value) > LOCATED * this.usual[k]!);
      const isZero = hasHappened || !(Math.abs(value) > threshold);
      this.sides[k] = isZero ? 0 : Math.sign(value);
      this.thresholds[k] = isZero ? Math.max(threshold, 4 * Math.abs(value) || 0) : 0;
    }
  }

  private arm(k: number, value: number): void {
    if (this.sides[k] === 0 && Math.abs(value) > this.thresholds[k]!) this.sides[k] = Math.sign(value);
  }

  /** The rate of a function along the motion. */
  slope(k: number, t: number, x: Float64Array): number {
    const { model } = this;
    const rates = new Float64Array(x.length);
    if (!model.rates(t, x, rates)) return NaN;
    let [size, rate] = [Math.abs(t), 1];
    for (let i = 0; i < x.length; i++) [size, rate] = [Math.max(size, Math.abs(x[i]!)), Math.max(rate, Math.abs(rates[i]!))];
    const small = (1e-6 * Math.max(size, 1e-6)) / rate;
    const at = (part: number): number => this.evaluate(t + part, x.map((value, i) => value + part * rates[i]!))[k]!;
    return (at(small) - at(-small)) / (2 * small);
  }

  /** The first events of a step, all that happen at once: which, and at which part of the step. */
  first(step: RungeKutta): { events: number[]; theta: number } | null {
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
      const found: { event: number; theta: number }[] = [];
      for (let k = 0; k < this.count; k++) {
        const own = values[k]!;
        this.usual[k] = Math.max(this.usual[k]!, Math.abs(own) || 0);
        const side = this.sides[k]!;
        if (side !== 0 && own * side <= 0) {
          const { direction } = events[k]!;
          const counts = direction === 'both' || (direction === 'rising') === side < 0;
          if (counts) {
            const at = bisect((part) => value(k, part) * side, theta - 1 / PLACES, theta);
            found.push({ event: k, theta: at });
          }
        }
      }
      if (found.length > 0) {
        const theta = Math.min(...found.map((one) => one.theta));
        return { events: found.filter((one) => one.theta - theta <= 1e-12).map((one) => one.event), theta };
      }
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
