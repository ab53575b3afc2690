/** A drawing in space by three.js: rods, dots, disks and paths above a grid, the third axis up. */
import {
  AmbientLight,
  BufferGeometry,
  CircleGeometry,
  Color,
  CylinderGeometry,
  DirectionalLight,
  DoubleSide,
  DynamicDrawUsage,
  Float32BufferAttribute,
  Group,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  PerspectiveCamera,
  Quaternion,
  Scene as World,
  SphereGeometry,
  TorusGeometry,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { App } from '../app.ts';
import { h, oncePerFrame } from '../dom.ts';
import { nice } from '../numbers.ts';
import { bounds, extent, middle, surroundings, type Box } from '../drawing.ts';
import { at } from '../sampling.ts';
import { colors, type Colors } from '../theme.ts';
import { position, shades, type Choices, type Figure } from './figure.ts';
import { Paths } from './paths.ts';
import { Triad } from './triad.ts';

/** From where one looks first: from the front, a bit from the right and above. */
const FROM = new Vector3(0.55, -1, 0.42).normalize();
const UP = new Vector3(0, 1, 0);
const OUT = new Vector3(0, 0, 1);

export class Spatial implements Figure {
  readonly element: HTMLElement;
  private readonly renderer: WebGLRenderer;
  private readonly world = new World();
  private readonly camera = new PerspectiveCamera(32, 1, 0.01, 100);
  private readonly controls: OrbitControls;
  private readonly observer: ResizeObserver;
  private readonly triad = new Triad();
  private readonly bodies = new Group();
  private palette: Colors;
  private box: Box;
  private rods: [number[], number[]][] = [];
  private rodMesh!: InstancedMesh;
  private dotMesh!: InstancedMesh;
  private rings: { ring: Group; index: number }[] = [];
  private paths!: Paths;
  private thickness = 0.01;
  private step = 1;
  private grid: LineSegments | null = null;
  private followed: [number, number, number] | null = null;
  private readonly render: () => void;

  constructor(private readonly app: App, private readonly choices: Choices) {
    this.renderer = new WebGLRenderer({ antialias: true, alpha: true });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio || 1, 2));
    this.element = h('div', { class: 'figure' }, this.renderer.domElement, this.triad.element);
    this.box = bounds(app.drawing);
    this.palette = colors();
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.renderer.domElement.style.touchAction = 'pan-y';
    this.render = oncePerFrame(() => this.paint());
    this.controls.addEventListener('change', this.render);
    const chosen = () => this.element.closest('#stage')?.contains(document.activeElement) ?? false;
    // Over a figure that was not chosen, the wheel scrolls the page.
    this.element.addEventListener(
      'wheel',
      (event) => (this.controls.enableZoom = event.ctrlKey || chosen()),
      { capture: true, passive: true },
    );
    this.element.addEventListener('dblclick', () => this.fit());
    this.world.add(new AmbientLight(0xffffff, 1.7));
    const sun = new DirectionalLight(0xffffff, 1.9);
    sun.position.set(0.5, -0.8, 1.6);
    this.world.add(sun, this.bodies);
    this.build();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
    this.look();
  }

  renew(): void {
    if (this.app.origin === 'native') this.box = bounds(this.app.drawing);
    this.paths.renew();
    this.draw();
  }

  fit(): void {
    this.box = bounds(this.app.drawing);
    this.followed = null;
    this.build();
    this.look();
    this.draw();
  }

  zoom(factor: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    this.camera.position.copy(this.controls.target).addScaledVector(offset, 1 / factor);
    this.controls.update();
    this.render();
  }

  move(dx: number, dy: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const angle = 0.006;
    offset.applyAxisAngle(OUT, -dx * angle);
    const side = OUT.clone().cross(offset).normalize();
    const tilted = offset.clone().applyAxisAngle(side, -dy * angle);
    if (Math.abs(tilted.clone().normalize().z) < 0.99) offset.copy(tilted);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.render();
  }

  recolor(): void {
    this.palette = colors();
    this.build();
    this.draw();
  }

  dispose(): void {
    this.observer.disconnect();
    this.controls.dispose();
    this.clear();
    this.renderer.dispose();
  }

  draw(): void {
    this.follow();
    const { app } = this;
    const matrix = new Matrix4();
    const turn = new Quaternion();
    const gone = new Matrix4().makeScale(0, 0, 0);
    this.rods.forEach(([from, to], i) => {
      const [a, b] = [position(app, from), position(app, to)];
      if (!a || !b) return this.rodMesh.setMatrixAt(i, gone);
      const [start, end] = [new Vector3(...a), new Vector3(...b)];
      const along = end.clone().sub(start);
      const length = along.length();
      turn.setFromUnitVectors(UP, length > 0 ? along.divideScalar(length) : UP);
      const width = this.thickness;
      matrix.compose(start.add(end).multiplyScalar(0.5), turn, new Vector3(width, length, width));
      this.rodMesh.setMatrixAt(i, matrix);
    });
    this.rodMesh.instanceMatrix.needsUpdate = true;
    let i = 0;
    for (const shape of app.drawing.shapes) {
      if (shape.kind !== 'point') continue;
      const p = position(app, shape.at);
      const size = this.thickness * 2.4;
      this.dotMesh.setMatrixAt(i++, p ? matrix.makeScale(size, size, size).setPosition(...p) : gone);
    }
    this.dotMesh.instanceMatrix.needsUpdate = true;
    for (const { ring, index } of this.rings) this.placeRing(ring, index);
    this.paths.draw(this.choices.traces);
    this.render();
  }

  private placeRing(ring: Group, index: number): void {
    const shape = this.app.drawing.shapes[index];
    if (shape?.kind !== 'circle') return;
    const center = position(this.app, shape.center);
    const radius = Math.abs(position(this.app, [shape.radius])?.[0] ?? NaN);
    const axis = shape.axis ? position(this.app, shape.axis) : null;
    ring.visible = center !== null && radius > 0 && (axis !== null || !shape.axis);
    if (!ring.visible || !center) return;
    ring.position.set(...center);
    ring.scale.setScalar(radius);
    if (axis && Math.hypot(...axis) > 0) {
      ring.quaternion.setFromUnitVectors(OUT, new Vector3(...axis).normalize());
    }
  }

  /** Everything that depends on size or color. */
  private build(): void {
    const { app, palette } = this;
    this.clear();
    const size = extent(this.box);
    const own = extent(bounds(app.drawing, true));
    const many = app.drawing.shapes.length > 60;
    const thin = this.choices.follow ? 0 : size * 0.003;
    this.thickness = Math.min(Math.max(own * 0.014, thin), size * 0.009) * (many ? 0.5 : 1);
    this.rods = app.drawing.shapes.flatMap((shape) =>
      shape.kind === 'line' ? pairs(shape.points) : [],
    );
    const body = new MeshLambertMaterial({ color: palette.body });
    this.rodMesh = instanced(new CylinderGeometry(1, 1, 1, many ? 6 : 14), body, this.rods.length);
    const { shapes } = app.drawing;
    const shade = shades(shapes).map((n) => (n < 0 ? palette.body : (palette.series[n % palette.series.length] ?? palette.ink)));
    const dots = shapes.flatMap((shape, i) => (shape.kind === 'point' ? [shade[i] ?? ''] : []));
    const white = new MeshLambertMaterial({ color: 0xffffff });
    this.dotMesh = instanced(many ? new SphereGeometry(1, 8, 6) : new SphereGeometry(1, 20, 14), white, dots.length);
    dots.forEach((color, i) => this.dotMesh.setColorAt(i, new Color(color)));
    this.bodies.add(this.rodMesh, this.dotMesh);
    this.buildRings(body, own);
    this.paths = new Paths(app, shapes, shade);
    this.bodies.add(this.paths.group);
    this.buildGround(this.choices.follow ? 2 * own : size);
    this.element.toggleAttribute('data-ready', true);
  }

  /** Takes everything out, and gives the memory of the graphics card back. */
  private clear(): void {
    this.bodies.traverse((one) => {
      const { geometry, material } = one as Partial<Mesh>;
      geometry?.dispose();
      for (const each of material ? [material].flat() : []) each.dispose();
    });
    this.bodies.clear();
  }

  private buildRings(material: MeshLambertMaterial, own: number): void {
    this.rings = this.app.drawing.shapes.flatMap((shape, index) => {
      if (shape.kind !== 'circle') return [];
      const first = Math.abs(this.app.drawing.rows[shape.radius]?.[0] ?? own) || own;
      const ring = new Group();
      const clear = { color: this.palette.body, transparent: true, opacity: 0.16, depthWrite: false };
      if (shape.axis) {
        ring.add(new Mesh(new TorusGeometry(1, Math.min((this.thickness * 1.1) / first, 0.2), 12, 72), material));
        ring.add(new Mesh(new CircleGeometry(1, 72), new MeshBasicMaterial({ ...clear, side: DoubleSide })));
      } else {
        ring.add(new Mesh(new SphereGeometry(1, 40, 28), new MeshLambertMaterial({ ...clear, opacity: 0.3 })));
      }
      this.bodies.add(ring);
      return [{ ring, index }];
    });
  }

  /** A grid at height zero if everything is above it, else a bit below everything; and shadows on it. */
  private buildGround(size: number): void {
    const { low, high } = this.box;
    const floor = low[2] >= -0.02 * size ? 0 : low[2] - 0.04 * size;
    const step = nice(size / 4);
    this.step = step;
    // Under a system that is followed, the grid goes along, line upon line.
    const [x0, x1, y0, y1] = this.choices.follow
      ? [-12, 12, -12, 12]
      : [Math.floor(low[0] / step - 0.5), Math.ceil(high[0] / step + 0.5), Math.floor(low[1] / step - 0.5), Math.ceil(high[1] / step + 0.5)];
    const ends: number[] = [];
    for (let i = x0; i <= x1; i++) ends.push(i * step, y0 * step, floor, i * step, y1 * step, floor);
    for (let i = y0; i <= y1; i++) ends.push(x0 * step, i * step, floor, x1 * step, i * step, floor);
    const geometry = new BufferGeometry().setAttribute('position', new Float32BufferAttribute(ends, 3));
    this.grid = new LineSegments(geometry, new LineBasicMaterial({ color: this.palette.grid }));
    this.grid.frustumCulled = false;
    this.bodies.add(this.grid);
    this.triad.spacing(step);
    const gray = new MeshBasicMaterial({ color: this.palette.grid, transparent: true, opacity: 0.6 });
    for (const mesh of [this.rodMesh, this.dotMesh]) {
      const shadow = new InstancedMesh(mesh.geometry, gray, mesh.count);
      shadow.instanceMatrix = mesh.instanceMatrix;
      shadow.frustumCulled = false;
      shadow.scale.z = 1e-4;
      shadow.position.z = floor + 2e-4 * size;
      this.bodies.add(shadow);
    }
  }

  /** So far away that the corners of the box are in view. */
  private look(): void {
    // A system that is followed is looked at, not its path.
    const { low, high } = this.choices.follow ? surroundings(this.app.drawing) : this.box;
    const size = Math.max(extent({ low, high }), extent(this.box) * 1e-3);
    const corner = (i: number) =>
      new Vector3(i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]);
    const center = corner(0).add(corner(7)).multiplyScalar(0.5);
    const right = new Vector3(0, 0, 1).cross(FROM).normalize();
    const up = FROM.clone().cross(right);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360) * 0.88;
    const wide = tall * this.camera.aspect;
    let distance = size * 0.4;
    for (let i = 0; i < 8; i++) {
      const c = corner(i).sub(center);
      const depth = c.dot(FROM);
      distance = Math.max(distance, depth + Math.abs(c.dot(right)) / wide, depth + Math.abs(c.dot(up)) / tall);
    }
    if (this.choices.follow) {
      this.followed = this.middle();
      center.add(new Vector3(...this.followed));
    }
    this.controls.target.copy(center);
    this.camera.position.copy(center).addScaledVector(FROM, distance);
    this.camera.near = distance / 200;
    this.camera.far = distance * 50 + extent(this.box) * 4;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.render();
  }

  private follow(): void {
    if (!this.choices.follow) {
      this.followed = null;
      return;
    }
    const now = this.middle();
    const shift = new Vector3(...now).sub(new Vector3(...(this.followed ?? now)));
    this.controls.target.add(shift);
    this.camera.position.add(shift);
    this.followed = now;
    this.grid?.position.set(Math.round(now[0] / this.step) * this.step, Math.round(now[1] / this.step) * this.step, 0);
    this.camera.lookAt(this.controls.target);
  }

  private middle(): [number, number, number] {
    const place = this.app.place;
    return middle(this.app.drawing, (row) => at(row, place));
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0 || clientHeight === 0) return;
    const first = this.camera.aspect === 1;
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(clientWidth, clientHeight);
    this.paths.resize(clientWidth, clientHeight);
    if (first) this.look();
    this.draw();
    this.paint();
  }

  private paint(): void {
    this.triad.draw(this.camera, this.palette, this.app.drawing.axes);
    this.renderer.render(this.world, this.camera);
  }
}

function pairs(points: number[][]): [number[], number[]][] {
  return points.slice(1).map((point, i) => [points[i] ?? point, point]);
}

function instanced(geometry: BufferGeometry, material: MeshLambertMaterial, count: number): InstancedMesh {
  const mesh = new InstancedMesh(geometry, material, count);
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  mesh.frustumCulled = false; // Its bounds would be those of the first moment.
  return mesh;
}

