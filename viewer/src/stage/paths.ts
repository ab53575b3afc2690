/** Traces in space: lines of a width in pixels, the part that was passed stronger than the rest. */
import { BufferGeometry, Float32BufferAttribute, Group, Line, LineBasicMaterial, Vector2 } from 'three';
import { Line2 } from 'three/examples/jsm/lines/Line2.js';
import { LineGeometry } from 'three/examples/jsm/lines/LineGeometry.js';
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
import type { App } from '../app.ts';
import type { Shape } from '../page.ts';
import type { Choices } from './figure.ts';

interface Path {
  at: number[];
  past: Line2;
  /** A thin one: it costs next to nothing. */
  whole: Line;
  /** The sample of each point of the line, as samples without a place are left out. */
  samples: number[];
}

export class Paths {
  readonly group = new Group();
  private readonly paths: Path[] = [];
  private readonly size = new Vector2(1, 1);

  constructor(private readonly app: App, shapes: Shape[], shades: string[]) {
    shapes.forEach((shape, index) => {
      if (shape.kind !== 'trace') return;
      const color = shades[index] ?? '#888888';
      const past = new Line2(new LineGeometry(), new LineMaterial({ color, linewidth: 1.6, transparent: true, opacity: 0.95 }));
      const whole = new Line(new BufferGeometry(), new LineBasicMaterial({ color, transparent: true, opacity: 0.4 }));
      past.frustumCulled = whole.frustumCulled = false;
      const path: Path = { at: shape.at, past, whole, samples: [] };
      this.paths.push(path);
      this.group.add(path.whole, path.past);
    });
    this.renew();
  }

  /** Another run. */
  renew(): void {
    for (const path of this.paths) {
      const rows = path.at.map((index) => this.app.drawing.rows[index] ?? []);
      const places: number[] = [];
      path.samples = [];
      for (let i = 0; i < this.app.run.t.length; i++) {
        const [x, y, z] = [rows[0]?.[i], rows[1]?.[i], rows[2]?.[i] ?? 0];
        if (x === null || x === undefined || y === null || y === undefined) continue;
        places.push(x, y, z);
        path.samples.push(i);
      }
      path.past.visible = path.whole.visible = path.samples.length > 1;
      if (path.samples.length < 2) continue;
      path.past.geometry.dispose();
      path.past.geometry = new LineGeometry().setPositions(places);
      path.whole.geometry.dispose();
      path.whole.geometry = new BufferGeometry().setAttribute('position', new Float32BufferAttribute(places, 3));
    }
    this.resize(this.size.x, this.size.y);
  }

  draw(traces: Choices['traces']): void {
    const now = this.app.place.index;
    for (const { past, whole, samples } of this.paths) {
      const enough = samples.length > 1;
      whole.visible = enough && traces === 'whole';
      const passed = count(samples, now);
      past.visible = enough && traces !== 'none' && passed > 1;
      past.geometry.instanceCount = Math.max(passed - 1, 0);
    }
  }

  resize(width: number, height: number): void {
    this.size.set(width, height);
    for (const { past } of this.paths) past.material.resolution.copy(this.size);
  }
}

/** How many of the ordered samples are not after one. */
function count(samples: number[], last: number): number {
  let [low, high] = [0, samples.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((samples[middle] ?? 0) <= last) low = middle + 1;
    else high = middle;
  }
  return low;
}
