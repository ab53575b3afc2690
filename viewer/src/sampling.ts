/** Values of a run between its samples, and how far its drawing reaches. */
import type { Run, Scene } from './page.ts';

/** A place among samples: the one at or before a time, and how far it is to the next. */
export interface Place {
  index: number;
  fraction: number;
}

/** Where a time lies; times may repeat (at an event), and may run backwards. */
export function place(t: number[], time: number): Place {
  const last = t.length - 1;
  if (last < 1) return { index: 0, fraction: 0 };
  const forward = (t[last] ?? 0) >= (t[0] ?? 0);
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const at = t[middle] ?? 0;
    if (forward ? at <= time : at >= time) low = middle;
    else high = middle;
  }
  const [a, b] = [t[low] ?? 0, t[high] ?? 0];
  const fraction = b === a ? 0 : (time - a) / (b - a);
  return { index: low, fraction: Math.min(Math.max(fraction, 0), 1) };
}

/** A number of the run at a place, linear between samples; NaN where there is none. */
export function at(row: (number | null)[] | undefined, { index, fraction }: Place): number {
  const a = row?.[index];
  if (a === null || a === undefined) return NaN;
  if (fraction === 0) return a;
  const b = row?.[index + 1];
  return b === null || b === undefined ? a : a + (b - a) * fraction;
}

/** The smallest box that holds everything drawn at any sample. */
export interface Box {
  low: [number, number, number];
  high: [number, number, number];
}

export function bounds(scene: Scene, run: Run): Box {
  const low: Box['low'] = [Infinity, Infinity, Infinity];
  const high: Box['high'] = [-Infinity, -Infinity, -Infinity];
  const n = scene.dimension;
  const include = (point: number[], margin: (number | null)[] | undefined) => {
    for (let axis = 0; axis < n; axis++) {
      const row = run.scene[point[axis] ?? -1];
      if (!row) continue;
      row.forEach((x, i) => {
        if (x === null) return;
        const m = Math.abs(margin?.[i] ?? 0);
        if (x - m < (low[axis] ?? 0)) low[axis] = x - m;
        if (x + m > (high[axis] ?? 0)) high[axis] = x + m;
      });
    }
  };
  for (const shape of scene.shapes) {
    if (shape.kind === 'line') for (const point of shape.points) include(point, undefined);
    else if (shape.kind === 'circle') include(shape.center, run.scene[shape.radius]);
    else include(shape.at, undefined);
  }
  for (let axis = 0; axis < 3; axis++) {
    if (!((low[axis] ?? 0) <= (high[axis] ?? 0))) {
      low[axis] = 0;
      high[axis] = 0;
    }
  }
  return { low, high };
}

/** The length by which a drawing is measured: the longest side of its box. */
export function extent({ low, high }: Box): number {
  return Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2]) || 1;
}
