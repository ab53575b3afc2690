/** A panel: a chart, its legend with the values of the moment, and what can be changed about it. */
import type { App } from '../app.ts';
import { h, icon, ICONS } from '../dom.ts';
import { short } from '../numbers.ts';
import { at } from '../sampling.ts';
import { colors } from '../theme.ts';
import type { Chart } from './chart.ts';
import type { Choice } from './choose.ts';
import { History, type Stretch } from './history.ts';
import { Portrait } from './portrait.ts';
import { heightOf, isStrips, word } from './strips.ts';

const HEIGHT = 176;
const TALL = 300;

export class Panel {
  readonly element: HTMLElement;
  private readonly title = h('h3');
  private readonly canvas: HTMLElement;
  private readonly legend = h('ul', { class: 'legend', 'aria-label': 'Curves' });
  private readonly abscissa: HTMLSelectElement;
  private readonly adder: HTMLSelectElement;
  private readonly log: HTMLButtonElement;
  private readonly equal: HTMLButtonElement;
  private readonly whole: HTMLButtonElement;
  private values: HTMLElement[] = [];
  private chart: Chart | null = null;
  private visible = false;
  private stale = true;
  private width = 0;
  private isEqual: boolean | null = null;

  constructor(
    private readonly app: App,
    private readonly stretch: Stretch,
    private choice: Choice,
    private readonly closed: (panel: Panel) => void,
  ) {
    const toggle = (name: string, title: string, onclick: () => void) =>
      h('button', { type: 'button', 'aria-pressed': 'false', title, onclick }, name);
    this.abscissa = this.menu('Against', () => this.change({ x: this.abscissa.value === 't' ? 't' : Number(this.abscissa.value) }));
    this.adder = this.menu('Add a curve', () => {
      const column = Number(this.adder.value);
      if (!this.choice.ys.includes(column)) this.change({ ys: [...this.choice.ys, column] });
    });
    this.log = toggle('log', 'Logarithmic axis, of sizes', () => this.change({ log: !this.choice.log }));
    this.equal = toggle('1:1', 'The same scale on both axes', () => {
      this.isEqual = !this.isSquare();
      this.rebuild();
    });
    this.whole = h('button', { type: 'button', title: 'All of it (double click, 0)', onclick: () => this.chart?.zoom(0) }, 'all');
    const close = h('button', { type: 'button', class: 'quiet', 'aria-label': 'Remove this plot', title: 'Remove this plot', onclick: () => this.closed(this) }, icon(ICONS.close));
    this.canvas = h('div', { class: 'canvas', tabindex: 0, role: 'img' });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    const tools = h('div', { class: 'tools' }, this.whole, this.abscissa, this.adder, this.equal, this.log, close);
    this.element = h('article', { class: 'panel' }, h('header', {}, this.title, tools), this.canvas, this.legend);
    this.whole.hidden = true;
    this.fillMenus();
    this.describe();
  }

  get columns(): Choice {
    return this.choice;
  }

  /** Charts are made when they come into view: a page may have dozens. */
  setVisible(visible: boolean): void {
    this.visible = visible;
    if (visible && this.stale) this.refresh();
    else if (visible) this.setTime();
  }

  setRun(): void {
    this.stale = true;
    if (this.visible) this.refresh();
  }

  setTime(): void {
    if (!this.visible) return;
    this.chart?.setTime();
    const place = this.app.place;
    this.choice.ys.forEach((column, i) => {
      const value = this.values[i];
      if (!value) return;
      const words = this.app.page.columns[column]?.words;
      value.textContent = words ? word(this.app, column) : short(at(this.app.run.values[column], place));
    });
  }

  setWidth(): void {
    const width = this.canvas.clientWidth;
    if (!this.chart || width === this.width || width === 0) return;
    this.width = width;
    this.chart.plot.setSize({ width, height: this.height() });
    if (this.chart instanceof Portrait) this.chart.setRun();
    else this.chart.setTime();
  }

  /** Colors or columns are others: the chart is made anew. */
  rebuild(): void {
    this.chart?.destroy();
    this.chart = null;
    this.stale = true;
    this.describe();
    if (this.visible) this.refresh();
  }

  destroy(): void {
    this.chart?.destroy();
    this.element.remove();
  }

  private refresh(): void {
    this.stale = false;
    if (this.chart) {
      this.chart.setRun();
    } else {
      const done = () => (this.whole.hidden = !this.chart?.isZoomed());
      this.width = this.canvas.clientWidth;
      this.chart =
        this.choice.x === 't'
          ? new History(this.app, this.choice, this.stretch, this.canvas, this.height(), done)
          : new Portrait(this.app, this.choice, this.isSquare(), this.canvas, this.height(), done);
      done();
    }
    this.setTime();
  }

  private height(): number {
    if (isStrips(this.choice, this.app.page.columns)) return heightOf(this.choice);
    return this.choice.x === 't' ? HEIGHT : TALL;
  }

  private isSquare(): boolean {
    const columns = this.app.page.columns;
    const lengths = [this.choice.x, ...this.choice.ys].every((c) => c !== 't' && columns[c]?.length);
    return this.isEqual ?? lengths;
  }

  private change(part: Partial<Choice>): void {
    this.choice = { ...this.choice, ...part, title: '', more: 0 };
    this.rebuild();
  }

  private describe(): void {
    const { app, choice } = this;
    const label = (column: number) => app.page.columns[column]?.label ?? '';
    const against = choice.x === 't' ? '' : ` against ${label(choice.x)}`;
    const list = choice.ys.map(label).join(', ');
    this.title.textContent = choice.title || `${list}${against}` || 'Nothing yet';
    this.canvas.setAttribute(
      'aria-label',
      `Plot of ${list || 'nothing'}${against || ' against time'}. Plus and minus zoom, zero shows all, arrows step through time.`,
    );
    this.log.setAttribute('aria-pressed', String(choice.log));
    const strips = isStrips(choice, app.page.columns);
    this.element.classList.toggle('strips', strips);
    this.log.hidden = strips;
    this.equal.hidden = choice.x === 't';
    this.equal.setAttribute('aria-pressed', String(this.isSquare()));
    this.abscissa.value = String(choice.x);
    this.adder.value = '';
    const palette = colors();
    this.values = [];
    this.legend.replaceChildren(
      ...choice.ys.map((column, i) => {
        const value = h('output', { 'aria-live': 'off' });
        this.values.push(value);
        const swatch = h('i', { 'aria-hidden': 'true' });
        swatch.style.background = palette.series[i % palette.series.length] ?? '';
        swatch.hidden = strips;
        const drop = h('button', {
          type: 'button', title: `Take ${label(column)} out`, 'aria-label': `Take ${label(column)} out`,
          onclick: () => this.change({ ys: choice.ys.filter((y) => y !== column) }),
        }, icon(ICONS.close));
        return h('li', {}, swatch, h('span', { class: 'name' }, choice.log ? `|${label(column)}|` : label(column)), value, drop);
      }),
      ...(choice.more > 0 ? [h('li', { class: 'more' }, `${choice.more} more can be added`)] : []),
    );
  }

  private key(event: KeyboardEvent): void {
    if (!this.chart || event.ctrlKey || event.metaKey) return;
    if (event.key === '+' || event.key === '=') this.chart.zoom(1.5);
    else if (event.key === '-') this.chart.zoom(1 / 1.5);
    else if (event.key === '0') this.chart.zoom(0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Menus of hundreds of columns are filled when they are opened. */
  private menu(name: string, onchange: () => void): HTMLSelectElement {
    return h('select', {
      'aria-label': name, title: name, onchange,
      onfocus: () => this.fillMenus(true), onpointerenter: () => this.fillMenus(true),
    });
  }

  private fillMenus(all = false): void {
    const { columns } = this.app.page;
    if (all && this.adder.options.length > columns.length) return;
    const chosen = columns.flatMap((column, i) => (all || i === this.choice.x ? [h('option', { value: i }, column.label)] : []));
    const copies = all ? columns.map((column, i) => h('option', { value: i }, column.label)) : [];
    this.abscissa.replaceChildren(h('option', { value: 't' }, 'against t'), ...chosen);
    this.adder.replaceChildren(h('option', { value: '', disabled: true, selected: true }, '+ curve'), ...copies);
    this.abscissa.value = String(this.choice.x);
    this.adder.value = '';
  }
}
