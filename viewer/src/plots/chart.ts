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
    grid: { stroke: palette.grid, width: 1 },
    // The library's own end at 1e-24.
    ...(log ? { splits: (_: uPlot, __: number, low: number, high: number) => decades(low, high), filter: (_: uPlot, splits: number[]) => splits } : {}),
    ticks: { show: false },
    space: side === 'left' ? 28 : 60,
    values: (_, splits) => splits.map((value) => (value === null ? '' : log ? power(value) : tick(value, splits))),
    ...(label ? { label, labelSize: 16, labelGap: 0, labelFont: `italic ${FONT}` } : {}),
  };
}

/** Smaller numbers have no place on a logarithmic axis. */
const SMALLEST = 1e-100;
/** As many lines as a panel has room for. */
const LINES = 4;

/** Where a number stands on a logarithmic axis, by its size; nowhere if it is too small. */
export function sized(y: number): number | null {
  const size = Math.abs(y);
  return size < SMALLEST ? null : size;
}

/** The lines of a logarithmic axis: whole powers of ten, or parts of one where there are none. */
export function decades(low: number, high: number): number[] {
  const tenth = (k: number) => Number(`1e${k}`);
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  if (last > first) {
    const step = Math.ceil((last - first) / LINES);
    return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => tenth(first + i * step));
  }
  const below = first - 1;
  return [1, 2, 5, 10, 20, 50].map((part) => part * tenth(below)).filter((value) => value >= low && value <= high);
}

/** A number of a logarithmic axis. */
function power(value: number): string {
  const text = value >= 1e-2 && value < 1e5 ? String(value) : value.toExponential().replace('e+', 'e');
  return text.replace(/-/g, '−');
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
