/** The data of a page, as `crates/page/` writes it. docs/json.md describes it too. */

export interface Page {
  format: 1;
  system: string;
  model: { name: string; text: string };
  made: { version: string; command: string; method: string; formulation: string; tolerance: number };
  /** Everything that can be plotted, the same for the native and the live run. */
  columns: Column[];
  run: Run;
  events: PageEvent[];
  scene: Scene;
  certificate: Certificate;
  /** HTML. */
  doctor: string;
  /** HTML with MathML. */
  equations: string;
  parameters: Slider[];
  /** Inputs that are numbers. */
  inputs: Slider[];
  starts: Slider[];
  live: { code: string; [more: string]: unknown } | { why: string };
  /** By `dal view`: released sliders are sent to the server. */
  served?: boolean;
}

export interface Run {
  t: number[];
  /** `values[column][sample]` */
  values: (number | null)[][];
  /** `scene[number][sample]` */
  scene: (number | null)[][];
}

export interface PageEvent {
  t: number;
  name: string;
}

export type Group =
  | 'coordinate'
  | 'velocity'
  | 'state'
  | 'input'
  | 'held'
  | 'mode'
  | 'multiplier'
  | 'force'
  | 'energy'
  | 'residual'
  | 'error'
  | 'observable';

export interface Column {
  name: string;
  label: string;
  group: Group;
  length: boolean;
  angle: boolean;
  /** Of what is no amount: the words for 0, 1 and 2. */
  words?: string[];
}

export interface Certificate {
  verdict: string;
  rows: { label: string; value: string; allowed: string; ok: boolean }[];
}

export interface Slider {
  name: string;
  /** What is written beside it. */
  label: string;
  value: number;
  min: number;
  max: number;
}

/** Points are lists of indices into the scene's numbers. */
export interface Scene {
  dimension: 2 | 3;
  shapes: Shape[];
  /** Where things fall to, in space; without it the last axis is up. */
  down?: number[];
}

export type Shape =
  | { kind: 'line'; points: number[][] }
  | { kind: 'point'; at: number[] }
  | { kind: 'trace'; at: number[] }
  | { kind: 'circle'; center: number[]; radius: number; axis?: number[] };
