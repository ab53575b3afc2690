/**
 * The motion of a page's model, computed in the page: what sliders move without a server.
 *
 * Lagrange's equations with a projection onto the constraints after each step. It never throws and never
 * gives a number that is none: `words` says what stopped it.
 */

import type { Page } from '../page.ts';
import { Model } from './model.ts';
import type { Program } from './program.ts';
import { simulate, type Bounds, type Motion } from './simulate.ts';

export type { Bounds, Motion } from './simulate.ts';

/** Dragging stays fluent: no motion takes longer. */
const MILLISECONDS = 250;

export interface Live {
  /**
   * The motion with other values of parameters and start values, by name; until `tEnd`, or to where the
   * model's run ends. `bounds` are for who has more time than a hand that drags.
   */
  simulate(values: Record<string, number>, tEnd?: number, bounds?: Partial<Bounds>): Motion;
}

/** What moves a page's model; null if it says why nothing can. */
export function live(page: Page): Live | null {
  if (!('code' in page.live)) return null;
  const program = page.live as unknown as Program;
  const usual = new Map([...page.parameters, ...page.inputs, ...page.starts].map((slider) => [slider.name, slider.value]));
  let model: Model | null = null;
  return {
    simulate(values, tEnd, bounds = {}) {
      const limits = { milliseconds: MILLISECONDS, tolerance: program.tolerance, samples: program.samples, ...bounds };
      try {
        model ??= new Model(program);
        const parameters = Float64Array.from(program.parameters.values);
        const starts: Record<string, number> = {};
        for (const [name, value] of Object.entries(values)) {
          // A value that was not moved is what it was: a guess stays one.
          if (!Number.isFinite(value) || usual.get(name) === value) continue;
          const at = program.parameters.names.indexOf(name);
          if (at >= 0) parameters[at] = value;
          else starts[name] = value;
        }
        return simulate(model, parameters, starts, tEnd, limits);
      } catch (error) {
        model = null;
        return { t: [], values: [], scene: [], events: [], words: `this cannot be computed here: ${String(error)}` };
      }
    },
  };
}
