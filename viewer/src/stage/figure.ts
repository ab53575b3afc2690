/** What both kinds of drawing share. */
import type { App } from '../app.ts';
import { at } from '../sampling.ts';
import type { Shape } from '../page.ts';

/** A drawing of the scene that can be looked at from elsewhere. */
export interface Figure {
  readonly element: HTMLElement;
  /** Draws the moment that the page shows. */
  draw(): void;
  /** Another run is shown: what was computed of its whole is made again. */
  renew(): void;
  /** Looks at all of it again. */
  fit(): void;
  zoom(factor: number): void;
  /** Shifts a plane drawing, turns one in space; in pixels. */
  move(dx: number, dy: number): void;
  recolor(): void;
  dispose(): void;
}

/** What the reader chose. */
export interface Choices {
  /** Paths: none, up to now, or whole ones too. */
  traces: 'none' | 'past' | 'whole';
  /** The view moves along with the system. */
  follow: boolean;
}

/**
 * What is drawn: the scene of the page; where it has no trace, also those of its points, or of the
 * last joint that moves, or of the first circles. The reader can leave traces out.
 */
export function shapesOf(app: App): Shape[] {
  const { shapes } = app.page.scene;
  if (shapes.some(({ kind }) => kind === 'trace')) return shapes;
  const points = shapes.flatMap((shape) => (shape.kind === 'point' ? [shape.at] : []));
  const joints = shapes.flatMap((shape) => (shape.kind === 'line' ? shape.points : []));
  const centers = shapes.flatMap((shape) => (shape.kind === 'circle' ? [shape.center] : []));
  const last = joints.filter((point) => moves(app, point)).slice(-1);
  const chosen = [points, last, centers].map((list) => list.filter((point) => moves(app, point))).find((list) => list.length > 0);
  return [...shapes, ...(chosen ?? []).slice(0, 4).map((at): Shape => ({ kind: 'trace', at }))];
}

/** The points of a shape, as lists of indices. */
export function pointsOf(shape: Shape): number[][] {
  if (shape.kind === 'line') return shape.points;
  return [shape.kind === 'circle' ? shape.center : shape.at];
}

/** Where a point is now, or null where it is not drawn. */
export function position(app: App, point: number[]): [number, number, number] | null {
  const place = app.place;
  const [x, y, z] = [0, 1, 2].map((axis) => {
    const index = point[axis];
    return index === undefined ? 0 : at(app.run.scene[index], place);
  }) as [number, number, number];
  return Number.isFinite(x + y + z) ? [x, y, z] : null;
}

/** The mean of all points that move, by which a view follows. */
export function middle(app: App): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  let count = 0;
  for (const shape of app.page.scene.shapes) {
    if (shape.kind === 'trace') continue;
    for (const point of pointsOf(shape)) {
      if (!moves(app, point)) continue;
      const p = position(app, point);
      if (!p) continue;
      p.forEach((x, axis) => (sum[axis as 0 | 1 | 2] += x));
      count += 1;
    }
  }
  return count === 0 ? sum : [sum[0] / count, sum[1] / count, sum[2] / count];
}

function moves(app: App, point: number[]): boolean {
  return point.some((index) => {
    const row = app.run.scene[index] ?? [];
    return row[0] !== row[row.length - 1] || row[0] !== row[row.length >> 1];
  });
}

/**
 * The color of each shape, by its place in the palette; −1 is the color of bodies. A trace has
 * the color of the point it belongs to, so that both are seen as one.
 */
export function shades(shapes: Shape[]): number[] {
  const known = new Map<string, number>();
  const of = (point: number[]) => {
    const key = point.join();
    const shade = known.get(key) ?? known.size;
    known.set(key, shade);
    return shade;
  };
  return shapes.map((shape) =>
    shape.kind === 'point' || shape.kind === 'trace' ? of(shape.at) : -1,
  );
}
