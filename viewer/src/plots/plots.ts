/** All panels of the page. */
import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { choose, type Choice } from './choose.ts';
import { Stretch } from './history.ts';
import { Panel } from './panel.ts';

export function plots(app: App): HTMLElement {
  const stretch = new Stretch();
  const list = h('div', { class: 'panels' });
  let panels: Panel[] = [];
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) of(entry.target)?.setVisible(entry.isIntersecting);
  }, { rootMargin: '120px' });
  const sized = new ResizeObserver(() => panels.forEach((panel) => panel.setWidth()));
  const of = (element: Element) => panels.find((panel) => panel.element === element);

  const add = (choice: Choice): Panel => {
    const panel = new Panel(app, stretch, choice, (gone) => {
      seen.unobserve(gone.element);
      panels = panels.filter((one) => one !== gone);
      gone.destroy();
    });
    panels.push(panel);
    list.append(panel.element);
    seen.observe(panel.element);
    return panel;
  };

  const button = h('button', { type: 'button', class: 'add', onclick: () => {
    const panel = add(another(app));
    panel.element.scrollIntoView({ block: 'nearest' });
    panel.element.querySelector('select')?.focus({ preventScroll: true });
  } }, 'Add a plot');

  let known = '';
  const renew = () => {
    const key = JSON.stringify(app.page.columns);
    if (key === known) {
      if (stretch.range && app.origin === 'native') stretch.range = inside(stretch.range, app);
      panels.forEach((panel) => panel.setRun());
      return;
    }
    known = key;
    stretch.range = null;
    for (const panel of panels) {
      seen.unobserve(panel.element);
      panel.destroy();
    }
    panels = [];
    for (const choice of first(app)) add(choice);
  };
  app.on('run', renew);
  app.on('time', () => panels.forEach((panel) => panel.setTime()));
  app.on('theme', () => panels.forEach((panel) => panel.rebuild()));
  // On paper there is no scrolling: every chart is made.
  addEventListener('beforeprint', () => panels.forEach((panel) => panel.setVisible(true)));
  renew();
  sized.observe(list);
  return h('div', {}, list, button);
}

/** The chosen stretch of time, if the run still reaches it. */
function inside([from, to]: [number, number], app: App): [number, number] | null {
  const [low, high] = [Math.min(app.begin, app.end), Math.max(app.begin, app.end)];
  return from >= low && to <= high ? [from, to] : null;
}

/** The panels of a page, and for small systems the phase portrait of the first coordinate. */
function first(app: App): Choice[] {
  const { columns } = app.page;
  const panels = choose(columns, app.run);
  const coordinates = columns.filter((column) => column.group === 'coordinate').length;
  const portrait = another(app);
  return coordinates <= 4 && portrait.x !== 't' ? [...panels, portrait] : panels;
}

/** A velocity against its coordinate, or whatever comes first. */
function another(app: App): Choice {
  const { columns } = app.page;
  const q = columns.findIndex((column) => column.group === 'coordinate');
  const v = columns.findIndex((column) => column.name === `${columns[q]?.name}'`);
  if (q >= 0 && v >= 0) return { title: 'Phase portrait', ys: [v], x: q, log: false, more: 0 };
  return { title: '', ys: columns.length > 0 ? [0] : [], x: 't', log: false, more: 0 };
}
