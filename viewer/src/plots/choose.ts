/**
 * Which panels a page begins with: one for each kind of quantity, lengths apart from angles,
 * and what is much larger than its neighbors apart from them, so that nothing is flattened.
 */
import type { Column, Group, Run } from '../page.ts';

/** What a panel shows: columns against time, or against another column. */
export interface Choice {
  title: string;
  /** Columns by number. */
  ys: number[];
  /** A column by number, or time. */
  x: number | 't';
  log: boolean;
  /** How many columns of this kind were left out for want of room. */
  more: number;
}

/** More curves than these are not told apart. */
const MOST = 7;
/** Strips of modes take less room. */
const STRIPS = 16;
/** Quantities whose sizes differ by more than this have panels of their own. */
const APART = 25;

const TITLES: Record<Group, string> = {
  coordinate: 'Coordinates',
  velocity: 'Velocities',
  state: 'States',
  input: 'Inputs',
  held: 'Held',
  mode: 'Contacts and friction',
  multiplier: 'Multipliers',
  force: 'Forces',
  energy: 'Energy',
  residual: 'Residuals',
  error: 'Estimated errors',
  observable: 'Observed',
};

const ORDER: Group[] = ['coordinate', 'mode', 'observable', 'state', 'input', 'velocity', 'energy', 'force', 'multiplier', 'residual', 'error'];

export function choose(columns: Column[], run: Run): Choice[] {
  return ORDER.flatMap((group) => {
    const own = columns.flatMap((column, i) => (column.group === group ? [i] : []));
    if (own.length === 0) return [];
    if (group === 'mode') return [{ title: TITLES[group], ys: own.slice(0, STRIPS), x: 't' as const, log: false, more: Math.max(own.length - STRIPS, 0) }];
    const log = group === 'residual' || group === 'error';
    const kinds = group === 'coordinate' ? apartByKind(own, columns) : [{ words: '', list: own }];
    return kinds.flatMap(({ words, list }) => {
      const parts = log ? [list] : apartBySize(list, run);
      const names = (part: number[]) => part.map((i) => columns[i]?.label ?? '').join(', ');
      return parts.map((part) => ({
        title: TITLES[group] + (parts.length > 1 ? `: ${names(part.slice(0, MOST))}` : words),
        ys: part.slice(0, MOST),
        x: 't' as const,
        log: log && part.slice(0, MOST).some((i) => isPositive(run.values[i])),
        more: Math.max(part.length - MOST, 0),
      }));
    });
  });
}

function apartByKind(list: number[], columns: Column[]): { words: string; list: number[] }[] {
  const kinds = [
    { words: ': lengths', list: list.filter((i) => columns[i]?.length) },
    { words: ': angles', list: list.filter((i) => columns[i]?.angle) },
    { words: '', list: list.filter((i) => !columns[i]?.length && !columns[i]?.angle) },
  ].filter((kind) => kind.list.length > 0);
  return kinds.length > 1 ? kinds : [{ words: '', list }];
}

/** Sorted by size, cut where the next is much smaller; inside a panel the order of the model. */
function apartBySize(list: number[], run: Run): number[][] {
  const sized = list.map((i) => ({ i, size: spread(run.values[i]) }));
  const largest = Math.max(...sized.map(({ size }) => size));
  // Beside the others, rounding is no motion.
  const isStill = ({ size }: { size: number }) => size <= largest * 1e-10;
  const moving = sized.filter((one) => !isStill(one)).sort((a, b) => b.size - a.size);
  const parts: number[][] = [];
  let top = Infinity;
  for (const { i, size } of moving) {
    if (top / size > APART || parts.length === 0) {
      parts.push([]);
      top = size;
    }
    parts[parts.length - 1]?.push(i);
  }
  // What does not move goes with the largest: it flattens nothing there.
  const still = sized.filter(isStill).map(({ i }) => i);
  if (still.length > 0) parts.length > 0 ? parts[0]?.push(...still) : parts.push(still);
  return parts.map((part) => part.sort((a, b) => a - b));
}

/** How far a quantity reaches, beginning at zero, as panels mostly contain it. */
function spread(row: (number | null)[] | undefined): number {
  let [low, high] = [0, 0];
  for (const x of row ?? []) {
    if (x === null) continue;
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return high - low;
}

function isPositive(row: (number | null)[] | undefined): boolean {
  return (row ?? []).some((x) => x !== null && x > 0);
}
