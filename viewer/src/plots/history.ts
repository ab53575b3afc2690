/** Columns against time. All such charts show the same stretch of it, and one cursor. */
import uPlot from 'uplot';
import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { colors } from '../theme.ts';
import { axis, dash, fingers, sized, type Chart } from './chart.ts';
import type { Choice } from './choose.ts';
import { drawStrips, isStrips, names } from './strips.ts';

const SYNC = 'time';
/** More events than these are fainter; and lines nearer to each other than so many pixels are one. */
const MANY = 30;
const CLOSEST = 3.5;

/** The stretch of time that all histories show. */
export class Stretch {
  range: [number, number] | null = null;
  private readonly members = new Set<History>();

  join(member: History): void {
    this.members.add(member);
  }

  leave(member: History): void {
    this.members.delete(member);
  }

  /** Shows a stretch everywhere; null is all of the run. */
  show(range: [number, number] | null, from?: History): void {
    this.range = range;
    for (const member of this.members) if (member !== from) member.follow();
  }
}

export class History implements Chart {
  readonly plot: uPlot;
  private readonly line: HTMLElement;
  private following = false;

  constructor(
    private readonly app: App,
    private readonly choice: Choice,
    private readonly stretch: Stretch,
    place: HTMLElement,
    height: number,
    private readonly changed: () => void,
  ) {
    const palette = colors();
    const strips = isStrips(choice, app.page.columns);
    const angles = choice.ys.every((y) => app.page.columns[y]?.angle);
    const options: uPlot.Options = {
      width: Math.max(place.clientWidth, 200),
      height,
      legend: { show: false },
      padding: [8, 12, 0, 0],
      scales: {
        x: { time: false },
        y: strips ? { range: [0, choice.ys.length] } : choice.log ? { distr: 3, log: 10 } : { range: (_, low, high) => (angles && isNoise(low, high) ? [-1, 1] : roomy(low, high)) },
      },
      axes: [axis(palette, 'bottom'), { ...axis(palette, 'left', undefined, choice.log), ...(strips ? names(choice, app.page.columns) : {}) }],
      series: [
        {},
        ...choice.ys.map((column, place): uPlot.Series => ({
          label: app.page.columns[column]?.label ?? '',
          stroke: palette.series[place % palette.series.length] ?? palette.ink,
          width: 1.5,
          dash: dash(place, palette),
          points: { show: false },
          pxAlign: 0, // Between pixels too: curves are smooth.
          spanGaps: false,
          // Strips are drawn below; the library knows when.
          ...(strips ? { paths: () => null } : {}),
        })),
      ],
      cursor: {
        drag: { x: true, y: true, uni: 24 },
        points: strips ? { show: false } : { size: 6 },
        sync: {
          key: SYNC,
          scales: ['x', null],
          filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' },
        },
      },
      hooks: {
        drawAxes: [(u) => (strips ? drawStrips(u, this.app, this.choice) : this.drawEvents(u))],
        setScale: [(u, key) => this.scaled(u, key)],
      },
    };
    this.plot = new uPlot(options, this.data(), place);
    this.line = h('div', { class: 'now', 'aria-hidden': 'true' });
    this.plot.over.append(this.line);
    this.listen();
    stretch.join(this);
    this.follow();
    this.setTime();
  }

  setRun(): void {
    this.plot.setData(this.data(), false);
    this.follow();
    this.setTime();
  }

  setTime(): void {
    const left = this.plot.valToPos(this.app.time, 'x');
    const inside = left >= -0.5 && left <= this.plot.over.clientWidth + 0.5;
    this.line.style.display = inside ? '' : 'none';
    this.line.style.transform = `translateX(${left}px)`;
  }

  zoom(factor: number): void {
    if (factor === 0) this.stretch.show(null);
    else this.zoomAt(factor, this.plot.over.clientWidth / 2);
  }

  isZoomed(): boolean {
    return this.stretch.range !== null;
  }

  destroy(): void {
    this.stretch.leave(this);
    this.plot.destroy();
  }

  /** Takes over the common stretch. */
  follow(): void {
    const [min, max] = this.stretch.range ?? this.whole();
    this.following = true;
    this.plot.batch(() => {
      this.plot.setData(this.plot.data, true);
      this.plot.setScale('x', { min, max });
    });
    this.following = false;
    this.setTime();
    this.changed();
  }

  private zoomAt(factor: number, left: number): void {
    const { min, max } = this.plot.scales['x'] ?? {};
    if (min === undefined || max === undefined || min === null || max === null) return;
    const [low, high] = this.whole();
    const at = this.plot.posToVal(left, 'x');
    const from = Math.max(at - (at - min) / factor, low);
    const to = Math.min(at + (max - at) / factor, high);
    if (to - from < (high - low) * 1e-6) return;
    this.stretch.show(from <= low && to >= high ? null : [from, to]);
  }

  private whole(): [number, number] {
    const { begin, end } = this.app;
    return begin === end ? [begin - 0.5, end + 0.5] : [Math.min(begin, end), Math.max(begin, end)];
  }

  private scaled(u: uPlot, key: string): void {
    if (key !== 'x' || this.following || !this.line) return;
    const { min, max } = u.scales['x'] ?? {};
    if (min === undefined || max === undefined || min === null || max === null) return;
    const [low, high] = this.whole();
    this.stretch.show(min <= low && max >= high ? null : [min, max], this);
    this.setTime();
    this.changed();
  }

  /** The library wants times that rise; on a logarithmic axis, sizes. */
  private data(): uPlot.AlignedData {
    const { t, values } = this.app.run;
    const backward = this.app.end < this.app.begin;
    const turned = <T>(row: T[]) => (backward ? row.slice().reverse() : row);
    const rows = this.choice.ys.map((column) => {
      const row = values[column] ?? [];
      return turned(this.choice.log ? row.map((y) => (y === null ? null : sized(y))) : row);
    });
    return [turned(t), ...rows] as uPlot.AlignedData;
  }

  private listen(): void {
    const { over } = this.plot;
    const timeAt = (event: MouseEvent) => this.plot.posToVal(event.clientX - over.getBoundingClientRect().left, 'x');
    let down = 0;
    over.addEventListener('mousedown', (event) => (down = event.clientX));
    over.addEventListener('mousemove', (event) => {
      if (event.buttons === 0) this.app.hover(timeAt(event));
    });
    over.addEventListener('mouseleave', () => this.app.hover(null));
    over.addEventListener('click', (event) => {
      if (Math.abs(event.clientX - down) < 4) this.app.seek(timeAt(event));
    });
    // The library's own answer to a double click shows what the data reach; so does this one, everywhere.
    over.addEventListener('dblclick', (event) => {
      event.stopImmediatePropagation();
      this.stretch.show(null);
    }, { capture: true });
    fingers(this.plot, (factor, at) => this.zoomAt(factor, at), (left) => {
      this.app.play(false);
      this.app.seek(this.plot.posToVal(left, 'x'));
    });
  }

  private drawEvents(u: uPlot): void {
    const { events } = this.app;
    if (events.length === 0) return;
    const palette = colors();
    const c = u.ctx;
    const { left, top, width, height } = u.bbox;
    c.save();
    c.beginPath();
    c.rect(left, top, width, height);
    c.clip();
    c.strokeStyle = palette.muted;
    c.fillStyle = palette.muted;
    c.lineWidth = devicePixelRatio;
    c.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    c.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
    c.textBaseline = 'top';
    c.textAlign = 'left';
    c.globalAlpha = events.length > MANY ? 0.5 : 1;
    let [before, free] = [-Infinity, -Infinity];
    for (const { t, name } of events) {
      const x = Math.round(u.valToPos(t, 'x', true)) + 0.5;
      if (Math.abs(x - before) < CLOSEST * devicePixelRatio) continue;
      before = x;
      c.beginPath();
      c.moveTo(x, top);
      c.lineTo(x, top + height);
      c.stroke();
      // Names stand where there is room for them.
      const from = x + 3 * devicePixelRatio;
      if (from <= free) continue;
      free = from + c.measureText(name).width + 3 * devicePixelRatio;
      c.fillText(name, from, top + 2 * devicePixelRatio);
    }
    c.restore();
  }
}

/** Angles have a unit of their own: what is rounding beside a radian is 0. */
function isNoise(low: number | null, high: number | null): boolean {
  return Math.max(Math.abs(low ?? 0), Math.abs(high ?? 0)) < 1e-12;
}

/** A bit more than the data; a constant gets a range that does not magnify its rounding. */
function roomy(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const span = high - low;
  if (span <= size * 1e-12) return size === 0 ? [-1, 1] : [low - 0.05 * size, high + 0.05 * size];
  return [low - 0.06 * span, high + 0.06 * span];
}
