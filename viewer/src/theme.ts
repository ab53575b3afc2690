/** Colors, light and dark: as the system says, until the switch says otherwise. */
import type { App } from './app.ts';
import { byId, h, icon, ICONS } from './dom.ts';

export interface Colors {
  dark: boolean;
  paper: string;
  ink: string;
  muted: string;
  grid: string;
  accent: string;
  body: string;
  /** Curves, told apart by people who see fewer colors too (after Okabe and Ito). */
  series: string[];
}

const LIGHT = ['#0069a8', '#c2410c', '#00836a', '#a0457f', '#8a6100', '#3a8fc7', '#5b5f66'];
const DARK = ['#5ab4f0', '#f2884f', '#3ec9a5', '#dc8dbd', '#e6b83c', '#a3cbe8', '#b0b5bd'];

const KEY = 'dalembert-theme';

export function isDark(): boolean {
  return document.documentElement.dataset['theme'] === 'dark';
}

/** The colors of the style sheet, for what is drawn on canvases. */
export function colors(): Colors {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim();
  const dark = isDark();
  return {
    dark,
    paper: read('--paper'),
    ink: read('--ink'),
    muted: read('--muted'),
    grid: read('--grid'),
    accent: read('--accent'),
    body: read('--body'),
    series: dark ? DARK : LIGHT,
  };
}

export function themes(app: App): void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const button = h('button', { class: 'quiet', type: 'button', title: 'Dark or light' }, icon(ICONS.theme));
  const apply = (dark: boolean) => {
    document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
    button.setAttribute('aria-label', dark ? 'Switch to light colors' : 'Switch to dark colors');
    app.tell('theme');
  };
  button.addEventListener('click', () => {
    remember(isDark() ? 'light' : 'dark');
    apply(!isDark());
  });
  system.addEventListener('change', () => {
    if (!remembered()) apply(system.matches);
  });
  byId('tools').append(button);
  apply(remembered() ? remembered() === 'dark' : system.matches);
}

// A page opened from a file may have no storage; then the choice lasts as long as the page.
function remember(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    /* not kept */
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
