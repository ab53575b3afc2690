/** Values of a run between its samples. */
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
