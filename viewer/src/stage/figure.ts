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

/** Where a point is now, or null where it is not drawn. */
export function position(app: App, point: number[]): [number, number, number] | null {
  const place = app.place;
  const [x, y, z] = [0, 1, 2].map((axis) => {
    const index = point[axis];
    return index === undefined ? 0 : at(app.drawing.rows[index], place);
  }) as [number, number, number];
  return Number.isFinite(x + y + z) ? [x, y, z] : null;
}

/** More points than these are of one color, but for those with a trace: a rainbow tells nothing. */
const COLORED = 7;

/**
 * The color of each shape, by its place in the palette; −1 is the color of bodies. A trace has
 * the color of the point it belongs to, so that both are seen as one.
 */
export function shades(shapes: Shape[]): number[] {
  const known = new Map<string, number>();
  const traced = new Set(shapes.flatMap((shape) => (shape.kind === 'trace' ? [shape.at.join()] : [])));
  const many = shapes.filter((shape) => shape.kind === 'point').length > COLORED;
  const of = (point: number[]) => {
    const key = point.join();
    const shade = known.get(key) ?? known.size;
    known.set(key, shade);
    return shade;
  };
  return shapes.map((shape) => {
    if (shape.kind === 'point' && many && !traced.has(shape.at.join())) return -1;
    return shape.kind === 'point' || shape.kind === 'trace' ? of(shape.at) : -1;
  });
}
