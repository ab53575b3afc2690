/** Values of a run between its samples, and whether these are enough. */

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

/** Fewer samples than these from one turn of a quantity to the next do not show it. */
const SHOWN = 3;

/** Whether quantities turn back and forth faster than samples can show. */
export function isTooCoarse(rows: (number | null)[][]): boolean {
  return rows.some((row) => {
    const values = row.filter((x) => x !== null);
    if (values.length < 60) return false;
    const least = 1e-3 * values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    let turns = 0;
    for (let i = 1; i + 1 < values.length; i++) {
      const [before, after] = [values[i]! - values[i - 1]!, values[i + 1]! - values[i]!];
      if (before * after < 0 && Math.min(Math.abs(before), Math.abs(after)) > least) turns += 1;
    }
    return turns * SHOWN > values.length;
  });
}

/** So many of a list at most, spread over all of it. */
export function evenly<T>(list: readonly T[], most: number): T[] {
  const stride = Math.max(Math.ceil(list.length / most), 1);
  return list.filter((_, i) => i % stride === 0);
}
