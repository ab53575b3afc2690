/** The place of the drawing: which kind, its buttons, its keys, and what is said of it. */
import type { App } from '../app.ts';
import { byId, h, icon, ICONS } from '../dom.ts';
import { travels } from '../drawing.ts';
import { Flat } from './flat.ts';
import type { Choices, Figure } from './figure.ts';
import { Spatial } from './spatial.ts';

export function stage(app: App): void {
  const place = byId('stage');
  place.tabIndex = 0;
  place.setAttribute('role', 'group');
  const hasTraces = () => app.drawing.shapes.some((shape) => shape.kind === 'trace');
  const choices: Choices = { traces: 'whole', follow: travels(app.drawing) };
  let figure: Figure | null = null;
  let kind = '';

  const build = () => {
    const key = JSON.stringify([app.page.scene, app.run.t.length > 0]);
    if (key === kind) return figure?.renew();
    kind = key;
    figure?.dispose();
    figure?.element.remove();
    figure = make(app, choices, place);
    if (figure) place.prepend(figure.element);
    place.setAttribute('aria-label', description(app));
    traces.hidden = !hasTraces();
    tools.hidden = figure === null;
  };

  const traces = h(
    'select',
    { 'aria-label': 'Traces', title: 'Traces', onchange: () => {
      choices.traces = traces.value as Choices['traces'];
      figure?.draw();
    } },
    h('option', { value: 'whole' }, 'traces: whole'),
    h('option', { value: 'past' }, 'traces: so far'),
    h('option', { value: 'none' }, 'traces: none'),
  );
  const follow = h('button', { type: 'button', 'aria-pressed': String(choices.follow), title: 'The view moves along', onclick: () => {
    choices.follow = !choices.follow;
    follow.setAttribute('aria-pressed', String(choices.follow));
    figure?.fit();
  } }, 'follow');
  const fit = h('button', { type: 'button', title: 'All of it in view (0)', 'aria-label': 'All of it in view', onclick: () => figure?.fit() }, icon(ICONS.fit));
  const tools = h('div', { class: 'tools' }, traces, follow, fit);
  place.append(tools);

  // Keys change the view while the drawing has the focus; those of time are everywhere.
  place.addEventListener('keydown', (event) => {
    if (event.target !== place || !figure) return;
    const shift = event.shiftKey ? 24 : 0;
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [shift, 0], ArrowRight: [-shift, 0], ArrowUp: [0, shift], ArrowDown: [0, -shift],
    };
    const way = moves[event.key];
    if (way && shift) figure.move(...way);
    else if (event.key === '+' || event.key === '=') figure.zoom(1.2);
    else if (event.key === '-') figure.zoom(1 / 1.2);
    else if (event.key === '0') figure.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  app.on('time', () => figure?.draw());
  app.on('run', build);
  app.on('theme', () => figure?.recolor());
  build();
}

function make(app: App, choices: Choices, place: HTMLElement): Figure | null {
  place.querySelector('.nothing')?.remove();
  const say = (words: string) => place.prepend(h('p', { class: 'nothing' }, words));
  if (app.page.scene.shapes.length === 0) {
    say('Nothing to draw: the model has no points in the plane or in space. A draw statement shows some.');
    return null;
  }
  if (app.run.t.length === 0) {
    say(`There is no motion to show: ${app.page.certificate.verdict}.`);
    return null;
  }
  try {
    return app.page.scene.dimension === 3 ? new Spatial(app, choices) : new Flat(app, choices);
  } catch {
    say('Drawings in space need WebGL, which this browser does not offer here. The plots show the same motion.');
    return null;
  }
}

/** The drawing in words, with its keys. */
function description(app: App): string {
  const counts = new Map<string, number>();
  for (const { kind } of app.page.scene.shapes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const list = [...counts].map(([kind, n]) => `${n} ${kind}${n > 1 ? 's' : ''}`).join(', ');
  return (
    `Drawing of ${app.page.system} in ${app.page.scene.dimension === 3 ? 'space' : 'the plane'}: ${list || 'nothing'}. ` +
    'Space plays, arrows step, plus and minus zoom, shift with arrows changes the view, zero shows all.'
  );
}
