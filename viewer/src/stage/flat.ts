/** A plane drawing on a canvas, both axes in one scale, over a grid with numbers. */
import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { multiples, nice, short } from '../numbers.ts';
import { bounds, middle, surroundings, type Box } from '../drawing.ts';
import { at } from '../sampling.ts';
import { colors, type Colors } from '../theme.ts';
import { position, shades, type Choices, type Figure } from './figure.ts';

const MARGIN = 34;
/** Lines of more points than these are curves. */
const CURVE = 16;
/** Above, there are buttons. */
const TOP = 52;

export class Flat implements Figure {
  readonly element: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private readonly observer: ResizeObserver;
  private readonly shades: number[];
  private box: Box;
  private palette: Colors;
  private width = 0;
  private height = 0;
  /** The middle of the view, and pixels per unit; null: what shows everything. */
  private view: { x: number; y: number; scale: number } | null = null;
  private readonly pointers = new Map<number, { x: number; y: number }>();

  constructor(private readonly app: App, private readonly choices: Choices) {
    this.element = h('canvas', { class: 'figure' });
    const context = this.element.getContext('2d');
    if (!context) throw new Error('this browser has no canvas');
    this.context = context;
    this.box = this.frame();
    this.shades = shades(app.drawing.shapes);
    this.palette = colors();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
    this.listen();
  }

  renew(): void {
    // While sliders are dragged the view stays: one sees what moves, and out of it goes what grows.
    if (this.app.origin === 'native') this.box = this.frame();
    this.draw();
  }

  fit(): void {
    this.box = this.frame();
    this.view = null;
    this.draw();
  }

  zoom(factor: number): void {
    this.zoomAt(factor, this.width / 2, this.height / 2);
  }

  move(dx: number, dy: number): void {
    const { x, y, scale } = this.current();
    this.view = { x: x - dx / scale, y: y + dy / scale, scale };
    this.draw();
  }

  recolor(): void {
    this.palette = colors();
    this.draw();
  }

  dispose(): void {
    this.observer.disconnect();
  }

  draw(): void {
    if (this.width === 0) return;
    const c = this.context;
    const { x, y, scale } = this.current();
    const [followX, followY] = this.choices.follow ? this.offset() : [0, 0];
    const toX = (value: number) => this.width / 2 + (value - x - followX) * scale;
    const toY = (value: number) => this.height / 2 - (value - y - followY) * scale;
    c.clearRect(0, 0, this.width, this.height);
    this.grid(x + followX, y + followY, scale, toX, toY);
    c.lineCap = 'round';
    c.lineJoin = 'round';
    this.traces(toX, toY);
    this.shapes(toX, toY, scale);
  }

  private shapes(toX: (x: number) => number, toY: (y: number) => number, scale: number): void {
    const c = this.context;
    const { app, palette } = this;
    const many = app.drawing.shapes.length > 60;
    const dot = many ? 2.5 : 5;
    for (const shape of app.drawing.shapes) {
      if (shape.kind === 'line') {
        c.strokeStyle = palette.body;
        c.lineWidth = many ? 1.5 : 2.5;
        c.beginPath();
        let pen = false;
        for (const point of shape.points) {
          const p = position(app, point);
          if (p && pen) c.lineTo(toX(p[0]), toY(p[1]));
          else if (p) c.moveTo(toX(p[0]), toY(p[1]));
          pen = p !== null;
        }
        c.stroke();
        if (!many && isLinkage(shape.points)) this.joints(shape.points, toX, toY);
      } else if (shape.kind === 'circle') {
        const p = position(app, shape.center);
        const r = position(app, [shape.radius])?.[0] ?? NaN;
        if (!p || !Number.isFinite(r)) continue;
        c.beginPath();
        c.arc(toX(p[0]), toY(p[1]), Math.abs(r) * scale, 0, 2 * Math.PI);
        c.globalAlpha = 0.1;
        c.fillStyle = palette.body;
        c.fill();
        c.globalAlpha = 1;
        c.strokeStyle = palette.body;
        c.lineWidth = 2;
        c.stroke();
      }
    }
    // Dots lie above lines, whatever the order of statements.
    app.drawing.shapes.forEach((shape, index) => {
      if (shape.kind !== 'point') return;
      const p = position(app, shape.at);
      if (!p) return;
      c.beginPath();
      c.arc(toX(p[0]), toY(p[1]), dot, 0, 2 * Math.PI);
      c.fillStyle = this.shade(index);
      c.fill();
      c.strokeStyle = palette.paper;
      c.lineWidth = many ? 0.5 : 1.5;
      c.stroke();
    });
  }

  /** The joints of a line, as small rings. */
  private joints(points: number[][], toX: (x: number) => number, toY: (y: number) => number): void {
    const c = this.context;
    c.fillStyle = this.palette.paper;
    c.lineWidth = 1.5;
    for (const point of points) {
      const p = position(this.app, point);
      if (!p) continue;
      c.beginPath();
      c.arc(toX(p[0]), toY(p[1]), 3, 0, 2 * Math.PI);
      c.fill();
      c.stroke();
    }
  }

  private traces(toX: (x: number) => number, toY: (y: number) => number): void {
    if (this.choices.traces === 'none') return;
    const { app } = this;
    const c = this.context;
    const now = app.place.index;
    app.drawing.shapes.forEach((shape, index) => {
      if (shape.kind !== 'trace') return;
      const xs = app.drawing.rows[shape.at[0] ?? -1] ?? [];
      const ys = app.drawing.rows[shape.at[1] ?? -1] ?? [];
      const path = (from: number, to: number, alpha: number, last: boolean) => {
        c.beginPath();
        let pen = false;
        for (let i = from; i <= to; i++) {
          const [px, py] = [xs[i], ys[i]];
          if (px === null || px === undefined || py === null || py === undefined) {
            pen = false;
            continue;
          }
          if (pen) c.lineTo(toX(px), toY(py));
          else c.moveTo(toX(px), toY(py));
          pen = true;
        }
        const p = last && pen ? position(app, shape.at) : null;
        if (p) c.lineTo(toX(p[0]), toY(p[1]));
        c.globalAlpha = alpha;
        c.strokeStyle = this.shade(index);
        c.lineWidth = 1.25;
        c.stroke();
        c.globalAlpha = 1;
      };
      if (this.choices.traces === 'whole') path(0, xs.length - 1, 0.28, false);
      path(0, now, 0.85, true);
    });
  }

  private shade(index: number): string {
    const { series, ink } = this.palette;
    const shade = this.shades[index] ?? -1;
    return shade < 0 ? ink : (series[shade % series.length] ?? ink);
  }

  private grid(
    x: number,
    y: number,
    scale: number,
    toX: (x: number) => number,
    toY: (y: number) => number,
  ): void {
    const c = this.context;
    const step = nice(110 / scale);
    const [halfX, halfY] = [this.width / 2 / scale, this.height / 2 / scale];
    c.font = '11px system-ui, sans-serif';
    c.fillStyle = this.palette.muted;
    c.lineWidth = 1;
    const line = (value: number, x0: number, y0: number, x1: number, y1: number) => {
      c.strokeStyle = this.palette.grid;
      c.globalAlpha = Math.abs(value) < step / 2 ? 1 : 0.55;
      c.beginPath();
      c.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
      c.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
      c.stroke();
      c.globalAlpha = 1;
    };
    c.textAlign = 'center';
    c.textBaseline = 'bottom';
    for (const value of multiples(x - halfX, x + halfX, step)) {
      line(value, toX(value), 0, toX(value), this.height);
      if (toX(value) > 40 && toX(value) < this.width - 16) c.fillText(tick(value, step), toX(value), this.height - 4);
    }
    c.textAlign = 'left';
    c.textBaseline = 'middle';
    for (const value of multiples(y - halfY, y + halfY, step)) {
      line(value, 0, toY(value), this.width, toY(value));
      if (toY(value) > 12 && toY(value) < this.height - 20) c.fillText(tick(value, step), 6, toY(value) - 8);
    }
  }

  private frame(): Box {
    return this.choices.follow ? surroundings(this.app.drawing) : bounds(this.app.drawing);
  }

  /** Where the system is, if it is followed: the view is then about its middle. */
  private offset(): [number, number] {
    const place = this.app.place;
    const now = middle(this.app.drawing, (row) => at(row, place));
    return [now[0], now[1]];
  }

  private current(): { x: number; y: number; scale: number } {
    if (this.view) return this.view;
    const { low, high } = this.box;
    const [wide, tall] = [high[0] - low[0], high[1] - low[1]];
    // What stands still is seen from as far away as it is from the origin, or from a unit's length.
    const away = Math.max(...[low, high].flatMap(([x, y]) => [Math.abs(x), Math.abs(y)]));
    const least = Math.max(wide, tall) > 1e-12 * away ? 1e-9 * Math.max(wide, tall) : away || 1;
    const sound = Math.min(
      Math.max(this.width - 2 * MARGIN, 40) / Math.max(wide, least),
      Math.max(this.height - TOP - MARGIN, 40) / Math.max(tall, least),
    );
    const lower = (TOP - MARGIN) / 2 / sound;
    return { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2 + lower, scale: sound };
  }

  private zoomAt(factor: number, px: number, py: number): void {
    const { x, y, scale } = this.current();
    const next = scale * factor;
    const shift = 1 / scale - 1 / next;
    this.view = {
      x: x + (px - this.width / 2) * shift,
      y: y - (py - this.height / 2) * shift,
      scale: next,
    };
    this.draw();
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.element;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    this.width = clientWidth;
    this.height = clientHeight;
    this.element.width = Math.round(clientWidth * ratio);
    this.element.height = Math.round(clientHeight * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.draw();
  }

  private listen(): void {
    const canvas = this.element;
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      const before = this.pointers.get(event.pointerId);
      if (!before) return;
      const now = { x: event.offsetX, y: event.offsetY };
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const was = Math.hypot(before.x - other.x, before.y - other.y) || 1;
        const is = Math.hypot(now.x - other.x, now.y - other.y) || 1;
        this.zoomAt(is / was, (now.x + other.x) / 2, (now.y + other.y) / 2);
        this.move((now.x - before.x) / 2, (now.y - before.y) / 2);
      } else {
        this.move(now.x - before.x, now.y - before.y);
      }
      this.pointers.set(event.pointerId, now);
    });
    for (const end of ['pointerup', 'pointercancel'] as const) {
      canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener(
      'wheel',
      (event) => {
        // Over a figure that was not chosen, the wheel scrolls the page.
        const chosen = canvas.closest('#stage')?.contains(document.activeElement) ?? false;
        if (!event.ctrlKey && !chosen) return;
        event.preventDefault();
        this.zoomAt(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
      },
      { passive: false },
    );
    canvas.addEventListener('dblclick', () => this.fit());
  }
}

/** Whether the corners of a line are joints: those of an outline are not, nor those of a curve. */
function isLinkage(points: number[][]): boolean {
  const isClosed = points.length > 3 && String(points[0]) === String(points[points.length - 1]);
  return !isClosed && points.length <= CURVE;
}

/** A number of the grid, without what multiplication by the step leaves behind. */
function tick(value: number, step: number): string {
  return Math.abs(value) < step / 2 ? '0' : short(Number(value.toPrecision(10)), 6);
}
