/**
 * What is drawn of a run: the scene of the page, turned so that the third axis is up, with what a
 * reader wants beside it. All drawings read this.
 */
import type { Run, Scene, Shape } from './page.ts';

type Vector = [number, number, number];

export interface Drawing {
  dimension: 2 | 3;
  shapes: Shape[];
  /** `rows[number][sample]`, at which the indices of shapes point. */
  rows: (number | null)[][];
  /** The axes of the model in those of the drawing. */
  axes: Vector[];
}

const AXES: Vector[] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
/** A system that goes so many times its own size is followed. */
const FAR = 20;

export function drawing(scene: Scene, run: Run): Drawing {
  const axes = upright(scene);
  const turned = axes === AXES ? { shapes: scene.shapes, rows: run.scene } : turn(scene, run, axes);
  const shapes = [...turned.shapes, ...implied(turned.shapes, turned.rows)];
  return { dimension: scene.dimension, shapes, rows: turned.rows, axes };
}

/** The points of a shape, as lists of indices. */
export function pointsOf(shape: Shape): number[][] {
  if (shape.kind === 'line') return shape.points;
  return [shape.kind === 'circle' ? shape.center : shape.at];
}

/** Whether a point is elsewhere at some time, by more than what constraints leave of rounding. */
export function moves(rows: (number | null)[][], point: number[]): boolean {
  const least = 1e-9 * reach(rows);
  return point.some((index) => {
    const row = rows[index] ?? [];
    const first = row[0] ?? 0;
    return [row[row.length >> 1], row[row.length - 1]].some((x) => Math.abs((x ?? first) - first) > least);
  });
}

const reaches = new WeakMap<(number | null)[][], number>();

/** The largest number of a drawing at its first sample and in the middle. */
function reach(rows: (number | null)[][]): number {
  const known = reaches.get(rows);
  if (known !== undefined) return known;
  const sizes = rows.map((row) => Math.max(Math.abs(row[0] ?? 0), Math.abs(row[row.length >> 1] ?? 0)));
  const found = sizes.reduce((most, size) => Math.max(most, size), 0);
  reaches.set(rows, found);
  return found;
}

/**
 * Where a scene has no trace: those of its points, or of the last joint that moves, or of its
 * circles. And a dot where a trace has come to, if nothing else is drawn there.
 */
function implied(shapes: Shape[], rows: (number | null)[][]): Shape[] {
  const own = shapes.flatMap((shape) => (shape.kind === 'trace' ? [shape.at] : []));
  const points = shapes.flatMap((shape) => (shape.kind === 'point' ? [shape.at] : []));
  const joints = shapes.flatMap((shape) => (shape.kind === 'line' ? shape.points : []));
  const centers = shapes.flatMap((shape) => (shape.kind === 'circle' ? [shape.center] : []));
  const moving = (list: number[][]) => list.filter((point) => moves(rows, point));
  const chosen = [moving(points), moving(joints).slice(-1), moving(centers)].find((list) => list.length > 0) ?? [];
  const traces = own.length > 0 ? [] : chosen.slice(0, 4);
  const seen = new Set([...points, ...joints, ...centers].map((point) => point.join()));
  return [
    ...traces.map((at): Shape => ({ kind: 'trace', at })),
    ...own.filter((at) => !seen.has(at.join())).map((at): Shape => ({ kind: 'point', at })),
  ];
}

/** The axes of the model in a frame whose third axis is against `down`. */
function upright(scene: Scene): Vector[] {
  const down = scene.dimension === 3 ? scene.down : undefined;
  const size = Math.hypot(...(down ?? []));
  if (!down || !(size > 0)) return AXES;
  const up = down.map((x) => -x / size) as Vector;
  if (up[2] > 1 - 1e-9) return AXES;
  // The axis that is least along `up` goes on pointing to the right, the second follows.
  const least = up.map(Math.abs).indexOf(Math.min(...up.map(Math.abs)));
  const along = up[least] ?? 0;
  const first = up.map((x, i) => Number(i === least) - along * x) as Vector;
  const length = Math.hypot(...first);
  const right = first.map((x) => x / length) as Vector;
  const back: Vector = [
    up[1] * right[2] - up[2] * right[1],
    up[2] * right[0] - up[0] * right[2],
    up[0] * right[1] - up[1] * right[0],
  ];
  return [0, 1, 2].map((i) => [right[i], back[i], up[i]] as Vector);
}

function turn({ shapes }: Scene, run: Run, axes: Vector[]): { shapes: Shape[]; rows: (number | null)[][] } {
  const rows = run.scene.slice();
  const known = new Map<string, number[]>();
  const turned = (point: number[]): number[] => {
    const key = point.join();
    const found = known.get(key);
    if (found) return found;
    const from = point.map((index) => run.scene[index] ?? []);
    const made = [0, 1, 2].map((axis) => {
      const row = run.t.map((_, sample) => {
        let sum = 0;
        for (let i = 0; i < 3; i++) {
          const x = from[i]?.[sample];
          if (x === null || x === undefined) return null;
          sum += x * (axes[i]?.[axis] ?? 0);
        }
        return sum;
      });
      rows.push(row);
      return rows.length - 1;
    });
    known.set(key, made);
    return made;
  };
  const all = shapes.map((shape): Shape => {
    if (shape.kind === 'line') return { ...shape, points: shape.points.map(turned) };
    if (shape.kind === 'circle') {
      return { ...shape, center: turned(shape.center), ...(shape.axis ? { axis: turned(shape.axis) } : {}) };
    }
    return { ...shape, at: turned(shape.at) };
  });
  return { shapes: all, rows };
}

/** The mean of all points that move, at a sample; by it a view follows. */
export function middle({ shapes, rows }: Pick<Drawing, 'shapes' | 'rows'>, at: (row: (number | null)[] | undefined) => number): Vector {
  const sum: Vector = [0, 0, 0];
  let count = 0;
  for (const shape of shapes) {
    if (shape.kind === 'trace') continue;
    for (const point of pointsOf(shape)) {
      if (!moves(rows, point)) continue;
      const p = [0, 1, 2].map((axis) => (point[axis] === undefined ? 0 : at(rows[point[axis]]))) as Vector;
      if (!Number.isFinite(p[0] + p[1] + p[2])) continue;
      p.forEach((x, axis) => (sum[axis as 0 | 1 | 2] += x));
      count += 1;
    }
  }
  return count === 0 ? sum : [sum[0] / count, sum[1] / count, sum[2] / count];
}

export interface Box {
  low: Vector;
  high: Vector;
}

/** How far a circle goes along each axis from its middle. */
function extents(shape: Extract<Shape, { kind: 'circle' }>, rows: Drawing['rows'], i: number): Vector {
  const radius = Math.abs(rows[shape.radius]?.[i] ?? 0);
  const normal = (shape.axis ?? []).map((at) => rows[at]?.[i] ?? NaN);
  const length = Math.hypot(...normal);
  const along = (axis: number): number => {
    const part = (normal[axis] ?? 0) / length;
    return Number.isFinite(part) ? radius * Math.sqrt(Math.max(1 - part * part, 0)) : radius;
  };
  return [along(0), along(1), along(2)];
}

/** The smallest box that holds everything drawn at any sample; `around` its own middle, where it is followed. */
export function bounds({ dimension, shapes, rows }: Pick<Drawing, 'dimension' | 'shapes' | 'rows'>, around = false): Box {
  const low: Vector = [Infinity, Infinity, Infinity];
  const high: Vector = [-Infinity, -Infinity, -Infinity];
  const count = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const stride = Math.max(Math.floor(count / 400), 1);
  for (let i = 0; i < count; i += stride) {
    const off: Vector = around ? middle({ shapes, rows }, (row) => row?.[i] ?? NaN) : [0, 0, 0];
    for (const shape of shapes) {
      if (around && (shape.kind === 'trace' || !pointsOf(shape).some((point) => moves(rows, point)))) continue;
      const margins = shape.kind === 'circle' ? extents(shape, rows, i) : [0, 0, 0];
      for (const point of pointsOf(shape)) {
        for (let axis = 0; axis < dimension; axis++) {
          const x = rows[point[axis] ?? -1]?.[i];
          if (x === null || x === undefined) continue;
          const [at, margin] = [x - (off[axis] ?? 0), margins[axis] ?? 0];
          if (at - margin < (low[axis] ?? 0)) low[axis] = at - margin;
          if (at + margin > (high[axis] ?? 0)) high[axis] = at + margin;
        }
      }
    }
  }
  for (let axis = 0; axis < 3; axis++) {
    if (!((low[axis] ?? 0) <= (high[axis] ?? 0))) {
      low[axis] = 0;
      high[axis] = 0;
    }
  }
  return { low, high };
}

/** The length by which a drawing is measured: the longest side of its box; 1 if it has none. */
export function extent({ low, high }: Box): number {
  return Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2]) || 1;
}

/** Whether the motion goes much farther than the system is large. */
export function travels(made: Drawing): boolean {
  const { low, high } = bounds(made, true);
  const own = Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
  return own > 0 && extent(bounds(made)) > FAR * own;
}

/** The box of a system that is followed, with room to see where it goes. */
export function surroundings(made: Drawing): Box {
  const { low, high } = bounds(made, true);
  const room = 0.6 * extent({ low, high });
  const wider = (box: Vector, by: number) => box.map((x, axis) => (axis < 2 ? x + by : x)) as Vector;
  return { low: wider(low, -room), high: wider(high, room) };
}
