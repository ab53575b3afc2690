/**
 * Parameters and start values that can be moved. Where the page can compute the motion itself
 * it follows the hand; where a server is behind it, releasing a slider asks for a native run.
 */
import type { App } from './app.ts';
import { byId, h, oncePerFrame } from './dom.ts';
import { short } from './numbers.ts';
import { live, type Live } from './live/index.ts';
import type { Slider } from './page.ts';

/** Sends values to the server; absent where there is none. */
export type Send = ((values: Record<string, number>) => void) | null;

/** More sliders than these begin folded. */
const MANY = 8;
/** Milliseconds that a released slider may take. */
const PATIENCE = 3000;

interface Row {
  slider: Slider;
  /** What it stands for: the boxes show fewer digits. */
  value: number;
  range: HTMLInputElement;
  number: HTMLInputElement;
}

export class Sliders {
  private engine: Live | null = null;
  private rows: Row[] = [];
  private readonly place = byId('sliders');
  private readonly note = h('p', { class: 'note' });
  private readonly reset: HTMLButtonElement;
  private readonly compute: () => void;
  private known = '';

  constructor(private readonly app: App, private readonly send: Send) {
    this.reset = h('button', { type: 'button', id: 'reset', onclick: () => this.restore() }, 'Reset');
    this.compute = oncePerFrame(() => this.simulate());
    app.on('page', () => this.build());
    this.build();
  }

  /** Whether dragging moves the motion in this page. */
  get isLive(): boolean {
    return this.engine !== null;
  }

  /** The values that differ from those of the page's own run. */
  private moved(): Record<string, number> {
    const values: Record<string, number> = {};
    for (const { slider, value } of this.rows) if (value !== slider.value) values[slider.name] = value;
    return values;
  }

  private build(): void {
    const { page } = this.app;
    const fresh = live(page);
    this.engine = fresh;
    const key = JSON.stringify([page.parameters, page.inputs, page.starts].map((list) => list.map((s) => s.name)));
    this.note.textContent = this.words();
    if (key === this.known) return this.adopt();
    this.known = key;
    this.rows = [];
    const groups = [
      this.group('Parameters', page.parameters),
      this.group('Inputs', page.inputs),
      this.group('Start', page.starts),
    ].filter((group) => group !== null);
    this.place.replaceChildren();
    if (groups.length === 0) return;
    this.place.append(h('div', { class: 'heading' }, h('h2', {}, 'Try'), this.note, this.reset), ...groups);
    for (const { range, number } of this.rows) {
      range.disabled = number.disabled = !this.isLive && !page.served;
    }
    this.reset.disabled = true;
  }

  /** What dragging does here, and if nothing, why. */
  private words(): string {
    const { page } = this.app;
    const why = 'why' in page.live ? page.live.why : '';
    if (this.isLive) {
      const drag = 'Drag: the motion follows, computed in this page.';
      return page.served ? `${drag} Release: it is run natively and certified.` : drag;
    }
    return page.served
      ? 'Release a slider: the model is run natively and certified.'
      : `These move nothing here${why ? `: ${why}` : ''}. dal view MODEL runs the model anew.`;
  }

  /** The same sliders with the values of a new run; one that is held keeps its own. */
  private adopt(): void {
    const { page } = this.app;
    const all = [...page.parameters, ...page.inputs, ...page.starts];
    for (const row of this.rows) {
      row.slider = all.find((slider) => slider.name === row.slider.name) ?? row.slider;
      if (row.range.matches(':active')) continue;
      row.range.min = String(row.slider.min);
      row.range.max = String(row.slider.max);
      this.put(row, row.slider.value);
    }
    this.reset.disabled = !this.app.page.served;
  }

  private group(title: string, sliders: Slider[]): HTMLElement | null {
    if (sliders.length === 0) return null;
    const rows = sliders.map((slider) => this.row(slider));
    const folded = sliders.length > MANY || (title === 'Start' && matchMedia('(max-width: 700px)').matches);
    // As wide as the longest name, as far as there is room.
    const longest = Math.max(...sliders.map((slider) => slider.label.length));
    const list = h('div', { class: 'rows' }, ...rows);
    list.style.setProperty('--label', `${Math.min(Math.max(0.55 * longest + 0.6, 3.8), 9)}rem`);
    return h('details', { class: 'group', open: !folded }, h('summary', {}, `${title} (${sliders.length})`), list);
  }

  private row(slider: Slider): HTMLElement {
    const id = `slider-${this.rows.length}`;
    const range = h('input', { type: 'range', id, min: slider.min, max: slider.max, step: 'any', value: slider.value, 'data-name': slider.name });
    const number = h('input', { type: 'number', value: slider.value, step: 'any', 'aria-label': `${slider.label}, as a number` });
    const row: Row = { slider, value: slider.value, range, number };
    this.rows.push(row);
    this.put(row, slider.value);
    range.addEventListener('input', () => {
      // In steps of the range, so that numbers stay short; the value of the model is one of them.
      const step = stepOf(row.slider);
      const own = row.slider.value;
      const steps = step > 0 ? Math.round((Number(range.value) - own) / step) : 0;
      this.put(row, steps === 0 ? own : Number((own + steps * step).toPrecision(6)));
      this.compute();
    });
    range.addEventListener('keydown', (event) => {
      const keys: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -20, PageUp: 20 };
      const by = keys[event.key];
      if (by === undefined) return;
      event.preventDefault();
      const { min, max } = row.slider;
      const value = Math.min(Math.max(row.value + by * stepOf(row.slider), min), max);
      this.put(row, Number(value.toPrecision(6)));
      this.compute();
      this.release();
    });
    range.addEventListener('change', () => this.release());
    number.addEventListener('change', () => {
      if (number.value === '' || !Number.isFinite(Number(number.value))) this.put(row, row.slider.value);
      else this.put(row, Number(number.value));
      this.compute();
      this.release();
    });
    return h('div', { class: 'slider' }, h('label', { for: id, title: slider.name }, slider.label), range, number);
  }

  private put(row: Row, value: number): void {
    const { range, number, slider } = row;
    row.value = value;
    range.value = String(value);
    const [low, high] = [slider.min, slider.max];
    range.style.setProperty('--done', `${Math.min(Math.max((value - low) / (high - low || 1), 0), 1) * 100}%`);
    range.setAttribute('aria-valuetext', short(value, 6));
    number.value = String(Number(value.toPrecision(6)));
  }

  /** `patience`: how long it may take, where no hand waits for it. */
  private simulate(patience?: number): void {
    const values = this.moved();
    this.reset.disabled = Object.keys(values).length === 0 && !this.app.page.served;
    if (!this.engine) return;
    if (Object.keys(values).length === 0) {
      this.app.show('native', this.app.page.run, this.app.page.events);
      return;
    }
    const { t, values: columns, scene, events, words } = this.engine.simulate(values, undefined, patience === undefined ? {} : { milliseconds: patience });
    if (t.length === 0) {
      this.app.show(this.app.origin, this.app.run, this.app.events, words);
      return;
    }
    this.app.show('live', { t, values: columns, scene }, events, words);
  }

  private release(): void {
    if (!this.send || !this.app.page.served) {
      // A motion that was cut short for the hand's sake is computed to its end.
      if (this.app.origin === 'live' && this.app.words) setTimeout(() => this.simulate(PATIENCE), 30);
      return;
    }
    // What was not moved stays the model's own: a start value that was left open stays so.
    const values = this.moved();
    if (Object.keys(values).length > 0) this.send(values);
  }

  private restore(): void {
    if (this.send && this.app.page.served) {
      this.send({});
      return;
    }
    for (const row of this.rows) this.put(row, row.slider.value);
    this.reset.disabled = true;
    this.app.show('native', this.app.page.run, this.app.page.events);
  }
}

/** By how much a slider moves at least. */
function stepOf({ min, max }: Slider): number {
  return (max - min) / 400;
}
