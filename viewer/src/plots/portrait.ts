/**
 * Columns against another column. The library knows curves over a rising x only, so it gives the
 * axes and the zoom, and the curves are drawn here.
 */
import uPlot from 'uplot';
import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { at, evenly } from '../sampling.ts';
import { colors, type Colors } from '../theme.ts';
import { axis, fingers, sized, type Chart } from './chart.ts';
import type { Choice } from './choose.ts';

interface Limits {
  x: [number, number];
  y: [number, number];
}

export class Portrait implements Chart {
  readonly plot: uPlot;
  private readonly dots: HTMLElement[];
  private readonly palette: Colors;
  private view: Limits | null = null;

  constructor(
    private readonly app: App,
    private readonly choice: Choice,
    private readonly equal: boolean,
    place: HTMLElement,
    height: number,
    private readonly changed: () => void,
  ) {
    this.palette = colors();
    const label = app.page.columns[choice.x as number]?.label ?? '';
    this.plot = new uPlot(
      {
        width: Math.max(place.clientWidth, 200),
        height,
        legend: { show: false },
        padding: [8, 12, 0, 0],
        scales: {
          x: { time: false, range: (_, low, high) => [low ?? 0, high ?? 1] },
          y: choice.log ? { distr: 3, log: 10, range: (_, low, high) => [low ?? 1, high ?? 10] } : { range: (_, low, high) => [low ?? 0, high ?? 1] },
        },
        axes: [axis(this.palette, 'bottom', label), axis(this.palette, 'left', undefined, choice.log)],
        series: [{}, { paths: () => null, points: { show: false } }],
        cursor: { drag: { x: true, y: true, setScale: false }, points: { show: false } },
        hooks: { draw: [(u) => this.drawCurves(u)], setSelect: [(u) => this.select(u)] },
      },
      [[0, 1], [null, null]],
      place,
    );
    this.dots = choice.ys.map((_, i) => {
      const dot = h('div', { class: 'dot', 'aria-hidden': 'true' });
      dot.style.background = this.shade(i);
      this.plot.over.append(dot);
      return dot;
    });
    this.listen();
    this.setRun();
  }

  setRun(): void {
    const { x, y } = this.squared(this.view ?? this.whole());
    this.plot.batch(() => {
      this.plot.setScale('x', { min: x[0], max: x[1] });
      this.plot.setScale('y', { min: y[0], max: y[1] });
    });
    this.plot.redraw(false, true);
    this.setTime();
    this.changed();
  }

  setTime(): void {
    const { app, choice, plot } = this;
    const place = app.place;
    const x = plot.valToPos(at(app.run.values[choice.x as number], place), 'x');
    choice.ys.forEach((column, i) => {
      const dot = this.dots[i];
      if (!dot) return;
      const value = at(app.run.values[column], place);
      const y = plot.valToPos(choice.log ? Math.abs(value) : value, 'y');
      const inside = x >= 0 && x <= plot.over.clientWidth && y >= 0 && y <= plot.over.clientHeight;
      dot.style.display = inside ? '' : 'none';
      if (inside) dot.style.transform = `translate(${x}px, ${y}px)`;
    });
  }

  zoom(factor: number): void {
    if (factor === 0) {
      this.view = null;
    } else {
      const { x, y } = this.limits();
      const around = ([a, b]: [number, number]): [number, number] => {
        const [middle, half] = [(a + b) / 2, (b - a) / 2 / factor];
        return [middle - half, middle + half];
      };
      this.view = { x: around(x), y: this.choice.log ? y : around(y) };
    }
    this.setRun();
  }

  isZoomed(): boolean {
    return this.view !== null;
  }

  destroy(): void {
    this.plot.destroy();
  }

  private limits(): Limits {
    const range = (key: string): [number, number] => [this.plot.scales[key]?.min ?? 0, this.plot.scales[key]?.max ?? 1];
    return { x: range('x'), y: range('y') };
  }

  private select(u: uPlot): void {
    const { left, top, width, height } = u.select;
    if (width < 3 && height < 3) return;
    const all = this.limits();
    this.view = {
      x: width < 3 ? all.x : [u.posToVal(left, 'x'), u.posToVal(left + width, 'x')],
      y: height < 3 ? all.y : [u.posToVal(top + height, 'y'), u.posToVal(top, 'y')],
    };
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.setRun();
  }

  /** All of the curves, and a bit more. */
  private whole(): Limits {
    const { app, choice } = this;
    const reach = (columns: number[], log: boolean): [number, number] => {
      let [low, high] = [Infinity, -Infinity];
      for (const column of columns) {
        for (const raw of app.run.values[column] ?? []) {
          const value = raw !== null && log ? sized(raw) : raw;
          if (value === null) continue;
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
      if (!(low <= high)) return log ? [1, 10] : [-1, 1];
      if (log) return [low / 2, high * 2];
      const more = (high - low) * 0.06 || Math.abs(high) * 0.06 || 1;
      return [low - more, high + more];
    };
    return { x: reach([choice.x as number], false), y: reach(choice.ys, choice.log) };
  }

  /** Where both axes are lengths, a unit is as long on one as on the other. */
  private squared({ x, y }: Limits): Limits {
    const { width, height } = this.plot.bbox;
    if (!this.equal || this.choice.log || width <= 0 || height <= 0) return { x, y };
    const unit = Math.max((x[1] - x[0]) / width, (y[1] - y[0]) / height);
    const around = ([a, b]: [number, number], pixels: number): [number, number] => {
      const [middle, half] = [(a + b) / 2, (unit * pixels) / 2];
      return [middle - half, middle + half];
    };
    return { x: around(x, width), y: around(y, height) };
  }

  private drawCurves(u: uPlot): void {
    const { app, choice } = this;
    const c = u.ctx;
    const { left, top, width, height } = u.bbox;
    const xs = app.run.values[choice.x as number] ?? [];
    c.save();
    c.beginPath();
    c.rect(left, top, width, height);
    c.clip();
    c.lineJoin = 'round';
    c.lineWidth = 1.4 * devicePixelRatio;
    choice.ys.forEach((column, place) => {
      const ys = app.run.values[column] ?? [];
      c.strokeStyle = this.shade(place);
      c.beginPath();
      let pen = false;
      xs.forEach((x, i) => {
        const raw = ys[i];
        const y = choice.log && raw !== null && raw !== undefined ? sized(raw) : raw;
        if (x === null || y === null || y === undefined) {
          pen = false;
          return;
        }
        const px = u.valToPos(x, 'x', true);
        const py = u.valToPos(y, 'y', true);
        if (pen) c.lineTo(px, py);
        else c.moveTo(px, py);
        pen = true;
      });
      c.stroke();
      this.drawEvents(u, column, this.shade(place));
    });
    c.restore();
  }

  /** Where events happened, a ring on the curve. */
  private drawEvents(u: uPlot, column: number, color: string): void {
    const { run, events } = this.app;
    const c = u.ctx;
    c.fillStyle = this.palette.paper;
    c.strokeStyle = color;
    for (const event of evenly(events, 400)) {
      const index = run.t.findIndex((t) => t >= event.t);
      const [x, y] = [run.values[this.choice.x as number]?.[index], run.values[column]?.[index]];
      if (x === null || x === undefined || y === null || y === undefined) continue;
      c.beginPath();
      c.arc(u.valToPos(x, 'x', true), u.valToPos(y, 'y', true), 3 * devicePixelRatio, 0, 7);
      c.fill();
      c.stroke();
    }
  }

  private shade(place: number): string {
    return this.palette.series[place % this.palette.series.length] ?? this.palette.ink;
  }

  private listen(): void {
    const { over } = this.plot;
    let down = 0;
    over.addEventListener('mousedown', (event) => (down = event.clientX));
    over.addEventListener('mousemove', (event) => {
      if (event.buttons === 0) this.app.hover(this.nearest(event));
    });
    over.addEventListener('mouseleave', () => this.app.hover(null));
    over.addEventListener('click', (event) => {
      const time = this.nearest(event);
      if (Math.abs(event.clientX - down) < 4 && time !== null) this.app.seek(time);
    });
    over.addEventListener('dblclick', (event) => {
      event.stopImmediatePropagation();
      this.zoom(0);
    }, { capture: true });
    fingers(this.plot, (factor) => this.zoom(factor), () => {});
  }

  /** The time of the sample that is drawn nearest to the pointer, if one is near. */
  private nearest(event: MouseEvent): number | null {
    const { app, choice, plot } = this;
    const box = plot.over.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let [best, found] = [40 ** 2, -1];
    const xs = app.run.values[choice.x as number] ?? [];
    for (const column of choice.ys) {
      const ys = app.run.values[column] ?? [];
      for (let i = 0; i < xs.length; i++) {
        const [x, y] = [xs[i], ys[i]];
        if (x === null || x === undefined || y === null || y === undefined) continue;
        const far = (plot.valToPos(x, 'x') - px) ** 2 + (plot.valToPos(choice.log ? Math.abs(y) : y, 'y') - py) ** 2;
        if (far < best) [best, found] = [far, i];
      }
    }
    return found < 0 ? null : (app.run.t[found] ?? null);
  }
}
