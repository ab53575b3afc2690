/**
 * What the page shows: which run, at what time. Parts of the page listen to changes;
 * nothing but this module changes it.
 */
import { drawing, type Drawing } from './drawing.ts';
import { place, type Place } from './sampling.ts';
import type { Page, PageEvent, Run } from './page.ts';

/** What may change: the data of the page, the run that is shown, its time, whether it plays, colors. */
export type Change = 'page' | 'run' | 'time' | 'play' | 'theme';

/** Where the shown run was computed. */
export type Origin = 'native' | 'live';

export class App {
  page: Page;
  run: Run;
  events: PageEvent[];
  drawing: Drawing;
  origin: Origin = 'native';
  /** What a live run says of itself. */
  words = '';
  playing = false;
  speed = 1;
  private set: number;
  private hovered: number | null = null;
  private listeners = new Map<Change, (() => void)[]>();

  constructor(page: Page) {
    this.page = page;
    this.run = page.run;
    this.events = page.events;
    this.drawing = drawing(page.scene, page.run);
    this.set = this.begin;
    this.speed = this.ownSpeed;
  }

  on(change: Change, listener: () => void): void {
    const list = this.listeners.get(change) ?? [];
    list.push(listener);
    this.listeners.set(change, list);
  }

  tell(change: Change): void {
    for (const listener of this.listeners.get(change) ?? []) listener();
  }

  get begin(): number {
    return this.run.t[0] ?? 0;
  }

  get end(): number {
    return this.run.t[this.run.t.length - 1] ?? 0;
  }

  /** The time of what is drawn: under the pointer if it rests on a plot, else the one set. */
  get time(): number {
    return this.hovered ?? this.set;
  }

  get place(): Place {
    return place(this.run.t, this.time);
  }

  /** Real time for runs of two seconds to a minute; others are stretched to about ten seconds. */
  get ownSpeed(): number {
    const span = Math.abs(this.end - this.begin);
    if (!(span > 0) || (span >= 2 && span <= 60)) return 1;
    return 2 ** Math.round(Math.log2(span / 10));
  }

  seek(time: number): void {
    const [low, high] = [Math.min(this.begin, this.end), Math.max(this.begin, this.end)];
    this.set = Math.min(Math.max(time, low), high);
    this.hovered = null;
    this.tell('time');
  }

  /** Shows another time while the pointer rests there; a motion that plays goes on. */
  hover(time: number | null): void {
    if (this.playing && time !== null) return;
    if (time === this.hovered) return;
    this.hovered = time;
    this.tell('time');
  }

  play(on: boolean): void {
    if (on === this.playing) return;
    this.playing = on;
    this.hovered = null;
    if (on && this.set === this.end) this.set = this.begin;
    this.tell('play');
    this.tell('time');
    if (on) this.turn();
  }

  /** A motion computed elsewhere takes the place of the one shown; the time stays where it can. */
  show(origin: Origin, run: Run, events: PageEvent[], words = ''): void {
    this.origin = origin;
    this.run = run;
    this.events = events;
    this.words = words;
    this.drawing = drawing(this.page.scene, run);
    this.tell('run');
    this.seek(this.set);
  }

  /** New data from the server. */
  replace(page: Page): void {
    const sameSpan =
      page.run.t[0] === this.page.run.t[0] &&
      page.run.t[page.run.t.length - 1] === this.page.run.t[this.page.run.t.length - 1];
    this.page = page;
    this.run = page.run;
    this.events = page.events;
    this.origin = 'native';
    this.words = '';
    this.drawing = drawing(page.scene, page.run);
    if (!sameSpan) this.speed = this.ownSpeed;
    this.tell('page');
    this.tell('run');
    this.seek(this.set);
  }

  private turn(): void {
    let before: number | null = null;
    const frame = (now: number) => {
      if (!this.playing) return;
      const passed = before === null ? 0 : Math.min((now - before) / 1000, 0.1);
      before = now;
      const forward = this.end >= this.begin ? 1 : -1;
      let next = this.set + forward * passed * this.speed;
      if ((next - this.end) * forward >= 0) next = this.begin;
      this.set = next;
      this.tell('time');
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}
