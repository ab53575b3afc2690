/** Puts the page together. */
import { App } from './app.ts';
import { documents, isPassed } from './documents.ts';
import { byId, h } from './dom.ts';
import { short } from './numbers.ts';
import type { Page } from './page.ts';
import { Served } from './served.ts';
import { Sliders } from './sliders.ts';
import { stage } from './stage/stage.ts';
import { themes } from './theme.ts';
import { transport } from './transport.ts';

function begin(): void {
  const app = new App(JSON.parse(byId('page').textContent ?? '') as Page);
  byId('page').remove(); // Its text is as large as the data.
  themes(app);
  heading(app);
  stage(app);
  transport(app);
  documents(app);
  const served: Served | null = app.page.served ? new Served(app, () => origin(app, served?.running ?? false)) : null;
  new Sliders(app, served ? (values) => void served.send(values) : null);
  app.on('run', () => origin(app, served?.running ?? false));
  app.on('page', () => heading(app));
  app.on('play', () => speak(app.playing ? 'playing' : `paused at ${short(app.time)}`));
  origin(app, false);
  if (!matchMedia('(prefers-reduced-motion: reduce)').matches) app.play(true);
  document.documentElement.dataset['ready'] = '';
}

function heading(app: App): void {
  const { system, made } = app.page;
  document.title = system;
  byId('system').textContent = system;
  byId('made').textContent = `${made.formulation} · ${made.method} · tolerance ${short(made.tolerance)}`;
}

/** Which run is shown, where it was computed, and whether it is certified. */
function origin(app: App, running: boolean): void {
  const place = byId('shown');
  const { verdict } = app.page.certificate;
  const passed = isPassed(verdict);
  const words = verdict === 'pass' ? 'certified' : passed ? 'its error not estimated' : `not certified: ${verdict.split(':')[0]}`;
  const [kind, name, more] =
    app.origin === 'live'
      ? ['live', 'live, computed in this page', app.words ? `not certified; ${app.words}` : 'not certified']
      : [passed ? 'native' : 'doubtful', 'native run', words];
  const key = [kind, name, more, running].join();
  if (place.dataset['key'] === key) return;
  place.dataset['key'] = key;
  place.dataset['kind'] = kind;
  place.title = app.origin === 'native' && !passed ? verdict : '';
  place.replaceChildren(h('b', {}, name), `, ${more}`, ...(running ? [h('span', { class: 'running' }, 'running…')] : []));
}

function speak(words: string): void {
  byId('spoken').textContent = words;
}

begin();
