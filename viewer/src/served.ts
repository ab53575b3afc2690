/**
 * The page behind `dal view`: the server says by events what it does (`running`), what is wrong
 * (`trouble`), and that there is a new run (`version`), which is then asked for.
 */
import type { App } from './app.ts';
import { byId, h } from './dom.ts';
import type { Page } from './page.ts';

interface State {
  version: number;
  running: boolean;
  /** Diagnostics as text, empty if there are none. */
  trouble: string;
  /** Whether the page is an older one, since there is none of what is asked for. */
  stale: boolean;
}

export class Served {
  running = false;
  private version = 0;
  private fetching = false;
  private wanted = 0;

  constructor(private readonly app: App, private readonly changed: () => void) {
    const source = new EventSource('events');
    source.addEventListener('message', (event) => this.hear(JSON.parse(String(event.data)) as State));
    source.addEventListener('error', () => {
      // What answers next may be another server, which counts from the beginning.
      this.version = -1;
      this.trouble('The server does not answer. Shown is the last run it gave.', '');
    });
  }

  /** Values that were moved, or none: those of the file. */
  async send(values: Record<string, number>): Promise<void> {
    const answer = await fetch('values', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(values),
    }).catch(() => null);
    const words = await answer?.text();
    if (answer && !answer.ok) this.trouble('The server refused these values.', words ?? '');
  }

  private hear(state: State): void {
    this.running = state.running;
    const stale = 'The model cannot be run as it is now. Shown is the last run that could.';
    if (state.trouble) this.trouble(state.stale ? stale : 'Of this run is to be said:', state.trouble);
    else this.trouble('', '');
    this.wanted = state.version;
    this.changed();
    void this.fetch();
  }

  private async fetch(): Promise<void> {
    if (this.fetching || this.wanted === this.version) return;
    this.fetching = true;
    try {
      const version = this.wanted;
      const answer = await fetch('data');
      if (!answer.ok) return;
      const page = (await answer.json()) as Page;
      const first = this.version === 0;
      this.version = version;
      // The first one is the page as it was loaded, unless something happened since.
      if (!first || JSON.stringify(page.run.t) !== JSON.stringify(this.app.page.run.t)) this.app.replace(page);
    } finally {
      this.fetching = false;
    }
    if (this.wanted !== this.version) void this.fetch();
  }

  private trouble(words: string, text: string): void {
    const place = byId('trouble');
    const key = words + text;
    if (place.dataset['key'] === key) return;
    place.dataset['key'] = key;
    place.hidden = words === '';
    place.classList.toggle('mild', words.startsWith('Of this run'));
    place.replaceChildren(h('p', {}, words), ...(text ? [h('pre', { tabindex: 0 }, text)] : []));
  }
}
