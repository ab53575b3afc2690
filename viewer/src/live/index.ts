/** The motion computed in the page. Until the integrator is here, no page is live. */
import type { Page, PageEvent } from '../page.ts';

export interface LiveRun {
  t: number[];
  values: (number | null)[][];
  scene: (number | null)[][];
  events: PageEvent[];
  /** What stopped it; empty if nothing did. */
  words: string;
}

export interface Live {
  simulate(values: Record<string, number>, tEnd?: number): LiveRun;
}

export function live(_page: Page): Live | null {
  return null;
}
