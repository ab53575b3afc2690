/** How contacts and frictions are, in time: a strip for each, with a stretch for each of its modes. */
import type uPlot from 'uplot';
import type { App } from '../app.ts';
import type { Column } from '../page.ts';
import { place } from '../sampling.ts';
import { colors } from '../theme.ts';
import type { Choice } from './choose.ts';

/** What a strip takes, and what is around all of them. */
const STRIP = 24;
const AROUND = 40;

/** Whether a panel shows modes in time, and nothing else. */
export function isStrips(choice: Choice, columns: Column[]): boolean {
  return choice.x === 't' && choice.ys.length > 0 && choice.ys.every((y) => columns[y]?.words);
}

export function heightOf(choice: Choice): number {
  return AROUND + STRIP * choice.ys.length;
}

/** The word for the moment: modes change at once, and have no values between. */
export function word(app: App, column: number): string {
  const { index, fraction } = place(app.run.t, app.time);
  const mode = app.run.values[column]?.[fraction < 1 ? index : index + 1];
  return mode === null || mode === undefined ? '–' : (app.page.columns[column]?.words?.[mode] ?? '–');
}

interface Stretch {
  from: number;
  to: number;
  mode: number;
}

/** The stretches of a row; a change between two samples is where something happened, or in the middle. */
export function stretches(t: number[], row: (number | null)[], happened: number[]): Stretch[] {
  const list: Stretch[] = [];
  let before: { t: number; mode: number | null } | null = null;
  t.forEach((now, i) => {
    const mode = row[i] ?? null;
    const last = list[list.length - 1];
    if (last && before && before.mode === mode && mode !== null) last.to = now;
    else if (mode !== null) {
      const from = before ? change(before.t, now, happened) : now;
      if (last && before && before.mode !== null) last.to = from;
      list.push({ from, to: now, mode });
    }
    before = { t: now, mode };
  });
  return list;
}

function change(a: number, b: number, happened: number[]): number {
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  return happened.find((t) => low <= t && t <= high) ?? (a + b) / 2;
}

/** The y axis of strips has their names. */
export function names(choice: Choice, columns: Column[]): Partial<uPlot.Axis> {
  const count = choice.ys.length;
  return {
    splits: () => choice.ys.map((_, i) => count - i - 0.5),
    filter: (_, splits) => splits,
    values: () => choice.ys.map((y) => shortened(columns[y]?.label ?? '')),
    grid: { show: false },
  };
}

function shortened(label: string): string {
  return label.length > 10 ? `${label.slice(0, 9)}…` : label;
}

export function drawStrips(u: uPlot, app: App, choice: Choice): void {
  const palette = colors();
  const c = u.ctx;
  const ratio = devicePixelRatio;
  const { left, top, width, height } = u.bbox;
  const happened = app.events.map((event) => event.t);
  c.save();
  c.beginPath();
  c.rect(left, top, width, height);
  c.clip();
  c.font = `${11 * ratio}px system-ui, sans-serif`;
  c.textAlign = 'center';
  c.textBaseline = 'middle';
  c.lineWidth = ratio;
  c.strokeStyle = palette.muted;
  const each = height / choice.ys.length;
  choice.ys.forEach((y, i) => {
    const words = app.page.columns[y]?.words ?? [];
    const [from, tall] = [top + i * each + 3 * ratio, each - 6 * ratio];
    for (const stretch of stretches(app.run.t, app.run.values[y] ?? [], happened)) {
      const [p, q] = [u.valToPos(stretch.from, 'x', true), u.valToPos(stretch.to, 'x', true)];
      const [a, b] = [Math.max(Math.min(p, q), left - 2), Math.min(Math.max(p, q), left + width + 2)];
      if (b < a) continue;
      const named = words[stretch.mode] ?? '';
      const dark = named === 'sticks' || named === 'closed';
      c.globalAlpha = dark ? 1 : 0.4;
      c.fillStyle = dark ? palette.accent : (palette.series[1] ?? palette.accent);
      if (named !== 'open') c.fillRect(a, from, b - a, tall);
      c.globalAlpha = 1;
      c.strokeRect(a, from, b - a, tall);
      if (c.measureText(named).width + 8 * ratio > b - a) continue;
      c.fillStyle = dark ? palette.paper : palette.ink;
      c.fillText(named, (a + b) / 2, from + tall / 2);
    }
  });
  c.restore();
}
