/** Elements, in one call each. */

type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** An element with attributes (`on…` are listeners) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== false && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children);
  return element;
}

/** An icon of 16 units, drawn by the current color; decoration only. */
export function icon(path: string): SVGSVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  svg.classList.add('icon');
  const shape = document.createElementNS(space, 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}

export const ICONS = {
  play: 'M4 2.5v11l9-5.5z',
  pause: 'M4 3h3v10H4zM9 3h3v10H9z',
  first: 'M3 3h2v10H3zM13 3v10L6 8z',
  close: 'M4 3l4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z',
  fit: 'M2 2h5v1.6H3.6V7H2zM9 2h5v5h-1.6V3.6H9zM2 9h1.6v3.4H7V14H2zM12.4 9H14v5H9v-1.6h3.4z',
  theme: 'M8 1a7 7 0 100 14A7 7 0 008 1zm0 1.6v10.8A5.4 5.4 0 018 2.6z',
} as const;

/** The element of an id that the template has. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the template has no #${id}`);
  return element;
}

/** Calls back at most once a frame. */
export function oncePerFrame(work: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}
