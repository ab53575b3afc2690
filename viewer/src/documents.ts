/** The tabs: plots, certificate, analysis, equations, the model's text, about. */
import type { App } from './app.ts';
import { byId, h } from './dom.ts';
import { short } from './numbers.ts';
import { plots } from './plots/plots.ts';

interface Tab {
  id: string;
  name: string;
  panel: HTMLElement;
  fill?: () => void;
}

export function documents(app: App): void {
  const certificate = h('div', { class: 'document' });
  const doctor = h('div', { class: 'document' });
  const equations = h('div', { class: 'document equations' });
  const model = h('div', { class: 'document' });
  const about = h('div', { class: 'document' });
  const tabs: Tab[] = [
    { id: 'plots', name: 'Plots', panel: plots(app) },
    { id: 'certificate', name: 'Certificate', panel: certificate, fill: () => fillCertificate(app, certificate) },
    { id: 'analysis', name: 'Analysis', panel: doctor, fill: () => (doctor.innerHTML = app.page.doctor || '<p>No analysis.</p>') },
    { id: 'equations', name: 'Equations', panel: equations, fill: () => (equations.innerHTML = app.page.equations || '<p>No equations.</p>') },
    { id: 'model', name: 'Model', panel: model, fill: () => model.replaceChildren(h('h2', {}, app.page.model.name), h('pre', { tabindex: 0 }, app.page.model.text)) },
    { id: 'about', name: 'About', panel: about, fill: () => fillAbout(app, about) },
  ];
  const place = byId('details');
  const list = h('div', { role: 'tablist', 'aria-label': 'Plots and documents' });
  place.append(list);
  const buttons = tabs.map(({ id, name, panel }) => {
    panel.id = `panel-${id}`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', `tab-${id}`);
    place.append(panel);
    const button = h('button', { type: 'button', role: 'tab', id: `tab-${id}`, 'aria-controls': panel.id, onclick: () => select(id) }, name);
    list.append(button);
    return button;
  });
  // What is long is put in when it is looked at, and again when the page's data change.
  const filled = new Set<string>();
  let current = 'plots';
  const select = (id: string) => {
    current = id;
    tabs.forEach((tab, i) => {
      const chosen = tab.id === id;
      tab.panel.hidden = !chosen;
      buttons[i]?.setAttribute('aria-selected', String(chosen));
      if (buttons[i]) buttons[i].tabIndex = chosen ? 0 : -1;
      if (chosen && tab.fill && !filled.has(id)) {
        tab.fill();
        filled.add(id);
      }
    });
  };
  list.addEventListener('keydown', (event) => {
    const now = tabs.findIndex(({ id }) => id === current);
    const to: Record<string, number> = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: tabs.length - 1 };
    const next = to[event.key];
    const tab = next === undefined ? undefined : tabs[(next + tabs.length) % tabs.length];
    if (!tab) return;
    event.preventDefault();
    select(tab.id);
    buttons[tabs.indexOf(tab)]?.focus();
  });
  app.on('page', () => {
    filled.clear();
    select(current);
  });
  app.on('run', () => {
    filled.delete('certificate');
    if (current === 'certificate') select(current);
  });
  select(current);
}

/** Whether everything that was looked at holds; without an estimate of the error, that is less. */
export function isPassed(verdict: string): boolean {
  return verdict === 'pass' || verdict.startsWith('pass,');
}

function fillCertificate(app: App, place: HTMLElement): void {
  const { verdict, rows } = app.page.certificate;
  const passed = isPassed(verdict);
  const head = h('tr', {}, ...['', 'measured', 'allowed', ''].map((name) => h('th', { scope: 'col' }, name)));
  const body = rows.map(({ label, value, allowed, ok }) =>
    h('tr', ok ? {} : { class: 'failed' }, h('th', { scope: 'row' }, label), h('td', {}, value), h('td', {}, allowed), h('td', { class: 'mark' }, ok ? '✓' : '✗ failed')),
  );
  place.replaceChildren(
    ...(app.origin === 'live'
      ? [h('p', { class: 'caution' }, 'Shown now is a motion computed in this page, which is not certified. This certificate is of the native run.')]
      : []),
    h('p', { class: passed ? 'verdict' : 'verdict failed' }, 'Verdict: ', h('strong', {}, verdict)),
    h('div', { class: 'scroll' }, h('table', {}, h('thead', {}, head), h('tbody', {}, ...body))),
  );
}

function fillAbout(app: App, place: HTMLElement): void {
  const { made, model } = app.page;
  const facts: [string, string][] = [
    ['made by', `dalembert ${made.version}`],
    ['command', made.command],
    ['model', model.name],
    ['formulation', made.formulation],
    ['method', made.method],
    ['tolerance', short(made.tolerance)],
    ['samples', String(app.page.run.t.length)],
  ];
  const keys: [string, string][] = [
    ['space', 'play or pause'],
    ['← →', 'a sample back or forth'],
    ['page up, page down', 'a twentieth of the run'],
    ['home, end', 'the first and the last sample'],
    ['[ ]', 'slower, faster'],
    ['+ − 0', 'zoom of the drawing or plot that has the focus; all of it'],
    ['shift with arrows', 'looks at the drawing from elsewhere'],
  ];
  const rows = (list: [string, string][]) => list.map(([name, value]) => h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, value)));
  place.replaceChildren(
    h('h2', {}, 'This page'),
    h('table', {}, h('tbody', {}, ...rows(facts))),
    h('h2', {}, 'Keys'),
    h('table', {}, h('tbody', {}, ...rows(keys))),
    h('h2', {}, 'Software of others in this page'),
    h('pre', { tabindex: 0 }, byId('notices').textContent?.trim() ?? ''),
  );
}
