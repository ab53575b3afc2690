/** Play and pause, the time, the speed; and the keys of the whole page. */
import type { App } from './app.ts';
import { byId, h, icon, ICONS } from './dom.ts';
import { clock } from './numbers.ts';
import { evenly, isTooCoarse } from './sampling.ts';

const SPEEDS = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16];

export function transport(app: App): void {
  const first = h('button', { type: 'button', class: 'round quiet', 'aria-label': 'To the start', title: 'To the start (Home)', onclick: () => app.seek(app.begin) }, icon(ICONS.first));
  const play = h('button', { type: 'button', class: 'round', id: 'play', onclick: () => app.play(!app.playing) });
  const scrub = h('input', { type: 'range', id: 'scrub', min: 0, max: 1, step: 'any', 'aria-label': 'Time', oninput: () => {
    app.play(false);
    app.seek(app.begin + Number(scrub.value) * (app.end - app.begin));
  } });
  const marks = h('div', { class: 'marks', 'aria-hidden': 'true' });
  const readout = h('output', { id: 'time', for: 'scrub', 'aria-live': 'off' });
  const speed = h('select', { 'aria-label': 'Speed', title: 'Speed', onchange: () => (app.speed = Number(speed.value)) });
  byId('transport').append(first, play, h('div', { class: 'track' }, scrub, marks), readout, speed);
  const coarse = h('p', { class: 'coarse' });
  byId('transport').after(coarse);

  const showTime = () => {
    const span = app.end - app.begin;
    const fraction = span === 0 ? 0 : (app.time - app.begin) / span;
    const words = clock(app.time, Math.abs(span));
    scrub.value = String(fraction);
    scrub.style.setProperty('--done', `${fraction * 100}%`);
    scrub.setAttribute('aria-valuetext', `${words} of ${clock(app.end, Math.abs(span))}`);
    readout.textContent = `t = ${words}`;
  };
  const showPlay = () => {
    play.replaceChildren(icon(app.playing ? ICONS.pause : ICONS.play));
    play.setAttribute('aria-label', app.playing ? 'Pause' : 'Play');
    play.title = app.playing ? 'Pause (space)' : 'Play (space)';
  };
  const showRun = () => {
    const span = app.end - app.begin || 1;
    scrub.step = String(1 / Math.max(app.run.t.length - 1, 1));
    marks.replaceChildren(
      ...evenly(app.events, 500).map(({ t, name }) => {
        const mark = h('i', { title: `${name}, t = ${clock(t, Math.abs(span))}` });
        mark.style.left = `${((t - app.begin) / span) * 100}%`;
        return mark;
      }),
    );
    const own = app.ownSpeed;
    const speeds = SPEEDS.map((factor) => factor * own);
    const kept = speeds.some((s) => s === app.speed) ? app.speed : own;
    speed.replaceChildren(...speeds.map((s) => h('option', { value: s, selected: s === kept }, rate(s))));
    app.speed = kept;
    const { columns } = app.page;
    const shown = app.run.values.filter((_, i) => columns[i]?.group === 'coordinate');
    coarse.hidden = !isTooCoarse(shown);
    coarse.textContent =
      `This motion oscillates faster than the ${app.run.t.length} samples of a page can show: what is drawn jumps. ` +
      'A shorter run shows it: --t-end.';
    showTime();
  };
  app.on('time', showTime);
  app.on('play', showPlay);
  app.on('run', showRun);
  showPlay();
  showRun();
  keys(app, speed);
}

function rate(speed: number): string {
  if (speed >= 1) return `${Number(speed.toPrecision(4))}×`;
  return `1/${Number((1 / speed).toPrecision(4))}×`;
}

/** Keys of time work wherever the focus is, but where it has keys of its own. */
function keys(app: App, speed: HTMLSelectElement): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (target.closest('input, select, textarea, [role="tablist"]')) {
      const isScrub = target.id === 'scrub' && event.key === ' ';
      if (!isScrub) return;
    }
    const n = app.run.t.length;
    const to = (index: number) => {
      app.play(false);
      app.seek(app.run.t[Math.min(Math.max(index, 0), n - 1)] ?? app.begin);
    };
    const { index, fraction } = app.place;
    const stride = Math.max(Math.round(n / 20), 1);
    switch (event.key) {
      case ' ':
        if (target.closest('button, a, summary')) return;
        app.play(!app.playing);
        break;
      case 'ArrowLeft': to(fraction > 1e-9 ? index : index - 1); break;
      case 'ArrowRight': to(fraction > 1 - 1e-9 ? index + 2 : index + 1); break;
      case 'PageUp': to(index - stride); break;
      case 'PageDown': to(index + stride); break;
      case 'Home': to(0); break;
      case 'End': to(n - 1); break;
      case '[':
      case ']': {
        const next = speed.selectedIndex + (event.key === ']' ? 1 : -1);
        speed.selectedIndex = Math.min(Math.max(next, 0), speed.options.length - 1);
        app.speed = Number(speed.value);
        break;
      }
      default:
        return;
    }
    event.preventDefault();
  });
}
