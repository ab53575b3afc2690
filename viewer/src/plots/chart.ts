/** What both kinds of chart share: axes, colors, keys, fingers. */
import uPlot from 'uplot';
import type { Colors } from '../theme.ts';

/** A chart of one panel. */
export interface Chart {
  readonly plot: uPlot;
  /** The shown run or its range changed. */
  setRun(): void;
  /** The time that is shown changed. */
  setTime(): void;
  /** Enlarges about the middle; zero shows all again. */
  zoom(factor: number): void;
  isZoomed(): boolean;
  destroy(): void;
}

/** The same for every panel, so that times lie above each other. */
export const LEFT = 64;

const FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';

export function axis(palette: Colors, side: 'bottom' | 'left', label?: string, log = false): uPlot.Axis {
  return {
    stroke: palette.muted,
    font: FONT,
    size: side === 'left' ? LEFT : label ? 42 : 28,
    gap: 4,
    // Of a logarithmic axis the lines of whole powers of ten.
    grid: { stroke: palette.grid, width: 1, ...(log ? { filter: powers } : {}) },
    ticks: { show: false },
    space: side === 'left' ? 28 : 60,
    values: (_, splits) => splits.map((value) => (value === null ? '' : tick(value, splits))),
    ...(label ? { label, labelSize: 16, labelGap: 0, labelFont: `italic ${FONT}` } : {}),
  };
}

/** Smaller numbers have no place on a logarithmic axis: the library's end at 1e-32. */
const SMALLEST = 1e-30;

/** Where a number stands on a logarithmic axis, by its size; nowhere if it is too small. */
export function sized(y: number): number | null {
  const size = Math.abs(y);
  return size < SMALLEST ? null : size;
}

function powers(_: uPlot, splits: number[]): (number | null)[] {
  return splits.map((value) => (Number.isInteger(Number(Math.log10(value).toFixed(6))) ? value : null));
}

/** A number of an axis: as many digits as tell it from its neighbors. */
export function tick(value: number, among: (number | null)[]): string {
  if (value === 0) return '0';
  const [a, b] = [among[0] ?? 0, among[1] ?? 0];
  const step = Math.abs(b - a) || Math.abs(value);
  const size = Math.max(...among.map((x) => Math.abs(x ?? 0)));
  if (Math.abs(value) < step * 1e-6) return '0';
  let text: string;
  if (size >= 1e5 || size < 1e-3) text = Number(value.toPrecision(6)).toExponential().replace('e+', 'e');
  else text = String(Number(value.toPrecision(8)));
  return text.replace(/-/g, '−');
}

export function dash(place: number, palette: Colors): number[] {
  return place < palette.series.length - 2 ? [] : [6, 3];
}

/** Two fingers enlarge, one that moves sideways chooses the time. */
export function fingers(plot: uPlot, zoom: (factor: number, at: number) => void, seek: (left: number) => void): void {
  const touches = new Map<number, number>();
  const left = (event: PointerEvent) => event.clientX - plot.over.getBoundingClientRect().left;
  plot.over.style.touchAction = 'pan-y';
  plot.over.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'touch') touches.set(event.pointerId, left(event));
  });
  plot.over.addEventListener('pointermove', (event) => {
    const before = touches.get(event.pointerId);
    if (before === undefined) return;
    const other = [...touches].find(([id]) => id !== event.pointerId)?.[1];
    if (other !== undefined) {
      zoom((Math.abs(left(event) - other) || 1) / (Math.abs(before - other) || 1), (left(event) + other) / 2);
    } else {
      seek(left(event));
    }
    touches.set(event.pointerId, left(event));
  });
  for (const end of ['pointerup', 'pointercancel'] as const) {
    plot.over.addEventListener(end, (event) => touches.delete(event.pointerId));
  }
}
