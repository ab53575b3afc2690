/** Events that happen in time: at t₀ + k T, k = 0, 1, 2, …, as `crates/simulate/src/run/ticks.rs` has them. */

import type { Model } from './model.ts';

export class Ticks {
  private readonly list: { event: number; period: number }[] = [];

  constructor(
    model: Model,
    private readonly from: number,
    private readonly end: number,
  ) {
    const { events } = model.program;
    const periods = new Float64Array(events.length);
    model.functions['periods']!.call(new Float64Array(0), periods);
    events.forEach(({ period: place }, event) => {
      const period = place === null ? NaN : periods[place]!;
      if (period > 0 && Number.isFinite(period)) this.list.push({ event, period });
    });
  }

  /** The time of a tick next to a time, and of the one after it. */
  private times(period: number, t: number): [number, number] {
    const forward = this.end >= this.from ? 1 : -1;
    const count = Math.round((forward * (t - this.from)) / period);
    return [this.from + forward * count * period, this.from + forward * (count + 1) * period];
  }

  /** Where the motion stops next: at a tick, or at its end. */
  next(t: number): number {
    const forward = this.end >= this.from ? 1 : -1;
    let first = this.end;
    for (const { period } of this.list) for (const time of this.times(period, t)) if (forward * (time - t) > 0 && forward * (first - time) > 0) first = time;
    return first;
  }

  /** Whether an event happens in time. */
  has(event: number): boolean {
    return this.list.some((tick) => tick.event === event);
  }

  /** Events, and those that happen at this very time, in order of declaration. */
  join(t: number, events: number[]): number[] {
    // Nothing begins where the run ends.
    if (this.list.length === 0 || t === this.end) return events;
    const now = this.list.filter(({ period }) => this.times(period, t)[0] === t).map(({ event }) => event);
    return [...new Set([...events, ...now])].sort((a, b) => a - b);
  }
}
