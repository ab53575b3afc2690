/**
 * The program of a model, as `crates/page/` writes it: printed tapes, and where what lies among their
 * inputs and outputs. Everything is in q, q̇ and t:
 *
 *     Γ q̈ = F + C + Aᵀλ,   A q̈ = b,   ż = f.
 *
 * `n` coordinates, `m` constraint rows; states z stand behind velocities. Matrices are lists of places in the dense one, row by row.
 */

export interface Tape {
  prepare(constants: Float64Array): void;
  call(x: Float64Array, y: Float64Array): void;
}

/** Equations for unknowns: residuals, then the entries of their derivatives. */
export interface Relation {
  tape: string;
  /** How many equations. */
  count: number;
  places: number[];
}

export interface StartItem {
  /** `x`, `x'` or `p_x`, if it is one. */
  name: string;
  /** The level: 0 for positions, 1 for velocities or momenta. */
  level: 0 | 1;
  /** Whether it must hold; otherwise it is a guess. */
  holds: boolean;
  /** The unknown that it gives a value to; null if it is an equation of another kind. */
  unknown: number | null;
  /** Its place among the values of the start, or among the equations of its level. */
  at: number;
}

/** States: those with a value, and equations for the open ones. */
export interface StartStates {
  given: { state: number; at: number; holds: boolean }[];
  open: number[];
  relation: Relation;
}

export interface EventItem {
  name: string;
  direction: 'both' | 'rising' | 'falling';
  action: 'record' | 'stop' | 'reset';
  /** Whether it speaks of accelerations, multipliers or reactions. */
  observed: boolean;
  /** For an event that happens in time: its place among the periods. */
  period: number | null;
  /** How many values its reset has, and which quantities get them, level by level. */
  reset?: { values: string; count: number; levels: [ResetLevel, ResetLevel] };
}

export interface ResetLevel {
  /** Which of the values, in order. */
  values: number[];
  /** Coordinates that get a value by themselves, states counted on; null for other quantities. */
  unknowns: (number | null)[];
  relation: Relation;
}

export type Unknown = { multiplier: number } | { reaction: number } | { share: [number, number] };

export type Source = { see: number } | { multiplier: number } | { reaction: number } | { none: true };

export interface Program {
  code: string;
  n: number;
  m: number;
  /** Names of the parameters, and their values. */
  parameters: { names: string[]; values: number[] };
  coordinates: string[];
  /** Names of the model's own rates: `x'`, or `p_x`. */
  rates: string[];
  states: string[];
  constraints: string[];
  /** The statement that each row is of. */
  groups: number[];
  /** Outputs of `terms`: Γ, F, C, A, b, p, D p, ∂(F + C)/∂λ. Inputs: t, q, q̇, z, what stands behind, λ in forces. */
  terms: { metric: number[]; jacobian: number[]; slopes: number[] };
  /** Rows whose multipliers the forces depend on. */
  coupled: number[];
  /** Outputs of `rows`: φ, ψ, ∂φ/∂q; the constraint that each residual belongs to. */
  rows: { phi: number[]; psi: number[]; jacobian: number[] };
  /** p behind q̇ where no formula gives them: residuals and their derivatives. */
  behind: Relation | null;
  /** Whether the model's own rates are momenta. */
  momenta: boolean;
  /** Starts and resets: constraints of both levels in (t, q, rates, z), and the metrics. */
  laws: [Relation, Relation];
  metrics: [number[], number[]];
  start: { items: StartItem[]; values: number; relations: [Relation, Relation]; states: StartStates };
  /** Inputs of what is seen: t, q, q̇, p, q̈, ṗ, z, then these. */
  unknowns: Unknown[];
  /** Of `see`: how many numbers there are, where columns come from, how many numbers the scene has. */
  columns: Source[];
  seen: number;
  scene: number;
  events: EventItem[];
  /** Where a run begins and ends, samples, and the tolerance of its steps. */
  times: [number, number];
  samples: number;
  tolerance: number;
}

/** The printed tapes of a program. */
export function tapes(program: Program): Record<string, Tape> {
  // The text is the page's own.
  return new Function(program.code)() as Record<string, Tape>;
}
