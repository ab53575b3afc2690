/** The directions of the axes, in a corner, with the spacing of the grid. */
import { Vector3, type Camera } from 'three';
import { h } from '../dom.ts';
import { short } from '../numbers.ts';
import type { Colors } from '../theme.ts';

const NAMES = ['x', 'y', 'z'];
const SIZE = 72;

export class Triad {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly words: HTMLElement;

  constructor() {
    this.canvas = h('canvas', { width: 2 * SIZE, height: 2 * SIZE });
    this.words = h('span');
    this.element = h('div', { class: 'triad', 'aria-hidden': 'true' }, this.canvas, this.words);
  }

  spacing(step: number): void {
    this.words.textContent = `grid ${short(step)}`;
  }

  draw(camera: Camera, palette: Colors, directions: [number, number, number][]): void {
    const c = this.canvas.getContext('2d');
    if (!c) return;
    c.setTransform(2, 0, 0, 2, 0, 0);
    c.clearRect(0, 0, SIZE, SIZE);
    c.font = 'italic 12px ui-serif, Georgia, serif';
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    const turn = camera.quaternion.clone().invert();
    const axes = NAMES.map((name, i) => ({
      name,
      to: new Vector3(...(directions[i] ?? [0, 0, 0])).applyQuaternion(turn),
    }));
    axes.sort((a, b) => a.to.z - b.to.z);
    for (const { name, to } of axes) {
      const [x, y] = [SIZE / 2 + to.x * 24, SIZE / 2 - to.y * 24];
      c.globalAlpha = to.z < -0.2 ? 0.55 : 1;
      c.strokeStyle = palette.muted;
      c.fillStyle = palette.ink;
      c.lineWidth = 1.5;
      c.beginPath();
      c.moveTo(SIZE / 2, SIZE / 2);
      c.lineTo(x, y);
      c.stroke();
      c.fillText(name, SIZE / 2 + to.x * 32, SIZE / 2 - to.y * 32);
    }
    c.globalAlpha = 1;
  }
}
