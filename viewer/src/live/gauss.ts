/**
 * The problem that everything here is: minimize ½ vᵀΓv − vᵀF subject to A v = b, Γ ⪰ 0.
 *
 * Its solution satisfies Γ v = F + Aᵀλ. Accelerations, projections, starts and impulses are all
 * this problem. Unknowns are measured in units 1/√Γ_ii and rows by their length, so that ranks have
 * no units. An orthonormal basis of the rows (Householder, largest first) splits the unknowns into
 * what the rows fix and what they leave free:
 *
 *     v = S Q [y₁; y₂],   Rᵀ y₁ = b,   (QᵀSΓSQ)₂₂ y₂ = (QᵀS F)₂ − (QᵀSΓSQ)₂₁ y₁.
 *
 * Rows that depend on others are left out, as the first few decided. Where the part of Γ that is
 * left is singular the answer of least length is given and `unique` is false.
 */

/** What is left of the masses below this is nothing. */
const SINGULAR = 1e-11;
/** Rows beyond those that were independent before are so only if this much is left of them: less is drift. */
const MORE = 1e-6;
/** Masses below this part of the largest are measured as if they were it. */
const LIGHT = 1e-4;

export class Gauss {
  readonly n: number;
  readonly most: number;
  /** The answer. */
  readonly v: Float64Array;
  /** λ of the rows as they came; 0 for those that are left out. */
  readonly lambda: Float64Array;
  /** Rows in use, in order. */
  rows: number[] = [];
  /** How many rows were independent before; any number may be at first. */
  private known = Infinity;
  /** Whether what the rows leave free is determined. */
  unique = true;
  /** Whether it is so by equations that contradict each other: no motion at all. */
  contradicts = false;
  /** Units of the unknowns. */
  readonly units: Float64Array;
  private readonly basis: Float64Array;
  private readonly beta: Float64Array;
  private readonly lengths: Float64Array;
  private readonly g: Float64Array;
  private readonly factor: Float64Array;
  private readonly y: Float64Array;
  private readonly f: Float64Array;
  private readonly mu: Float64Array;
  private readonly work: Float64Array;
  private readonly order: Int32Array;
  private readonly weights: Float64Array;
  /** R: its diagonal, and what is above it, column by column. */
  private readonly diagonal: Float64Array;
  private readonly above: Float64Array;
  private dependent: { row: number; by: number[] }[] = [];

  /** `groups` tells which rows belong to one statement, and have one unit. */
  constructor(
    n: number,
    most: number,
    private readonly groups: number[] | null = null,
  ) {
    this.n = n;
    this.most = most;
    this.v = new Float64Array(n);
    this.lambda = new Float64Array(most);
    this.units = new Float64Array(n);
    this.basis = new Float64Array(most * n);
    this.beta = new Float64Array(most);
    this.lengths = new Float64Array(most);
    this.g = new Float64Array(n * n);
    this.factor = new Float64Array(n * n);
    this.y = new Float64Array(n);
    this.f = new Float64Array(n);
    this.mu = new Float64Array(most);
    this.work = new Float64Array(most * n);
    this.order = new Int32Array(most);
    this.weights = new Float64Array(most);
    this.diagonal = new Float64Array(most);
    this.above = new Float64Array(most * most);
  }

  /**
   * Takes Γ and A, `count` rows of it. With a number for `rank` independent rows are chosen: what is
   * left of a row of length 1 below it counts as nothing. Without, the rows of the last choice are
   * used. False if something is no number, or rows of that choice no longer serve.
   */
  set(metric: Float64Array, a: Float64Array, count: number, rank: number | null): boolean {
    const { n, units, g } = this;
    let largest = 0;
    for (let i = 0; i < n; i++) largest = Math.max(largest, metric[i * n + i]!);
    if (!(largest >= 0) || largest === Infinity) return false;
    // A direction that has next to no mass at this state, as the length of a quaternion has, gives no unit.
    for (let i = 0; i < n; i++) units[i] = 1 / Math.sqrt(Math.max(metric[i * n + i]!, LIGHT * largest) || 1);
    if (!this.orthogonalize(a, count, rank)) return false;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) g[i * n + j] = metric[i * n + j]! * units[i]! * units[j]!;
    for (let k = 0; k < this.rows.length; k++) {
      // H G H, rows and columns.
      for (let j = 0; j < n; j++) this.reflect(k, g, j, n);
      for (let i = 0; i < n; i++) this.reflect(k, g, i * n, 1);
    }
    return this.cholesky();
  }

  /** Forgets what was decided. */
  forget(): void {
    this.known = Infinity;
  }

  /** Applies the reflection of a row to numbers `stride` apart. */
  private reflect(k: number, x: Float64Array, at: number, stride: number): void {
    const { n, basis } = this;
    const own = k * n;
    let sum = 0;
    for (let i = k; i < n; i++) sum += basis[own + i]! * x[at + i * stride]!;
    sum *= this.beta[k]!;
    if (sum === 0) return;
    for (let i = k; i < n; i++) x[at + i * stride]! -= sum * basis[own + i]!;
  }

  /** Splits the unknowns by the rows; nothing is allocated where rows are those of before. */
  private orthogonalize(a: Float64Array, count: number, rank: number | null): boolean {
    const { n, units, basis, lengths, work, order, above, most } = this;
    let size = 0;
    if (rank === null) for (const row of this.rows) order[size++] = row;
    else for (let row = 0; row < count; row++) order[size++] = row;
    for (let j = 0; j < size; j++) {
      const row = order[j]!;
      let square = 0;
      for (let i = 0; i < n; i++) {
        const value = a[row * n + i]! * units[i]!;
        work[j * n + i] = value;
        square += value * value;
      }
      const length = Math.sqrt(square);
      if (!Number.isFinite(length)) return false;
      lengths[row] = length;
      if (length > 0) for (let i = 0; i < n; i++) work[j * n + i]! /= length;
    }
    if (rank !== null) this.weigh(size);
    let used = 0;
    while (used < size && used < n) {
      let best = used;
      if (rank !== null) {
        let largest = -1;
        for (let j = used; j < size; j++) {
          const own = this.rest(used, j) * this.weights[order[j]!]!;
          if (own > largest) [largest, best] = [own, j];
        }
        if (!(largest > (used < this.known ? rank : Math.max(rank, MORE)))) break;
        this.swap(best, used);
      }
      const own = used * n;
      const length = this.rest(used, used);
      if (!(length > 1e-13)) return false;
      const alpha = work[own + used]! > 0 ? -length : length;
      let square = 0;
      for (let i = 0; i < n; i++) {
        const value = i < used ? 0 : work[own + i]! - (i === used ? alpha : 0);
        basis[own + i] = value;
        square += value * value;
      }
      this.beta[used] = 2 / square;
      this.diagonal[used] = alpha;
      for (let k = 0; k < used; k++) above[used * most + k] = work[own + k]!;
      for (let j = used + 1; j < size; j++) this.reflect(used, work, j * n, 1);
      used++;
    }
    if (rank === null) return used === size;
    this.rows = Array.from(order.subarray(0, used));
    this.known = used;
    this.dependent = [];
    for (let j = used; j < size; j++) {
      const by = work.slice(j * n, j * n + used);
      this.back(by, used);
      this.dependent.push({ row: order[j]!, by: Array.from(by) });
    }
    return true;
  }

  /** What is left of a row in the unknowns from k on. */
  private rest(k: number, j: number): number {
    let square = 0;
    for (let i = j * this.n + k; i < (j + 1) * this.n; i++) square += this.work[i]! * this.work[i]!;
    return Math.sqrt(square);
  }

  private swap(a: number, b: number): void {
    const { n, work, order } = this;
    if (a === b) return;
    [order[a], order[b]] = [order[b]!, order[a]!];
    for (let i = 0; i < n; i++) [work[a * n + i], work[b * n + i]] = [work[b * n + i]!, work[a * n + i]!];
  }

  /** Of a statement with several rows, those that vanish here would be no use to go by. */
  private weigh(size: number): void {
    const { groups, weights, lengths, order } = this;
    weights.fill(1);
    if (!groups) return;
    const most = new Map<number, number>();
    for (let j = 0; j < size; j++) {
      const group = groups[order[j]!]!;
      most.set(group, Math.max(most.get(group) ?? 0, lengths[order[j]!]!));
    }
    for (let j = 0; j < size; j++) weights[order[j]!] = lengths[order[j]!]! / (most.get(groups[order[j]!]!) || 1);
  }

  /** R x = y, in place, for the first r. */
  private back(y: Float64Array, r: number): void {
    for (let k = r - 1; k >= 0; k--) {
      for (let j = k + 1; j < r; j++) y[k]! -= this.above[j * this.most + k]! * y[j]!;
      y[k]! /= this.diagonal[k]!;
    }
  }

  /** Cholesky of what is left of Γ; if that fails, `unique` is false. */
  private cholesky(): boolean {
    const { n, g, factor } = this;
    const r = this.rows.length;
    this.unique = true;
    this.contradicts = false;
    for (let i = r; i < n; i++) {
      for (let j = r; j <= i; j++) {
        let sum = g[i * n + j]!;
        for (let k = r; k < j; k++) sum -= factor[i * n + k]! * factor[j * n + k]!;
        if (i === j) {
          if (Number.isNaN(sum)) return false;
          if (!(sum > SINGULAR)) {
            this.unique = false;
            return true;
          }
          factor[i * n + i] = Math.sqrt(sum);
        } else factor[i * n + j] = sum / factor[j * n + j]!;
      }
    }
    return true;
  }

  /** Solves for a force and a right side; both as they belong to the rows of `set`. */
  solve(force: Float64Array | null, bias: Float64Array | null): void {
    const { n, units, y, g, f, factor, v, lambda } = this;
    const r = this.rows.length;
    for (let i = 0; i < n; i++) f[i] = force ? force[i]! * units[i]! : 0;
    for (let k = 0; k < r; k++) this.reflect(k, f, 0, 1);
    for (let k = 0; k < r; k++) {
      const row = this.rows[k]!;
      let sum = bias ? bias[row]! / this.lengths[row]! : 0;
      for (let j = 0; j < k; j++) sum -= this.above[k * this.most + j]! * y[j]!;
      y[k] = sum / this.diagonal[k]!;
    }
    for (let i = r; i < n; i++) {
      let sum = f[i]!;
      for (let k = 0; k < r; k++) sum -= g[i * n + k]! * y[k]!;
      y[i] = sum;
    }
    if (this.unique) {
      for (let i = r; i < n; i++) {
        for (let k = r; k < i; k++) y[i]! -= factor[i * n + k]! * y[k]!;
        y[i]! /= factor[i * n + i]!;
      }
      for (let i = n - 1; i >= r; i--) {
        for (let k = i + 1; k < n; k++) y[i]! -= factor[k * n + i]! * y[k]!;
        y[i]! /= factor[i * n + i]!;
      }
    } else this.least();
    // R μ = (Qᵀ(SΓv − SF))₁
    const { mu } = this;
    for (let k = 0; k < r; k++) {
      let sum = -f[k]!;
      for (let i = 0; i < n; i++) sum += g[k * n + i]! * y[i]!;
      mu[k] = sum;
    }
    this.back(mu, r);
    lambda.fill(0);
    for (let k = 0; k < r; k++) lambda[this.rows[k]!] = mu[k]! / this.lengths[this.rows[k]!]!;
    v.set(y);
    for (let k = r - 1; k >= 0; k--) this.reflect(k, v, 0, 1);
    for (let i = 0; i < n; i++) v[i]! *= units[i]!;
  }

  /** The shortest y₂ where the metric is singular. */
  private least(): void {
    const { n, g, y } = this;
    const r = this.rows.length;
    const size = n - r;
    const matrix = new Float64Array(size * size);
    for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) matrix[i * size + j] = g[(r + i) * n + r + j]!;
    const vectors = eigen(matrix, size);
    const right = y.slice(r);
    let scale = 0;
    for (let i = 0; i < size; i++) scale = Math.max(scale, Math.abs(right[i]!));
    y.fill(0, r);
    for (let k = 0; k < size; k++) {
      const value = matrix[k * size + k]!;
      let sum = 0;
      for (let i = 0; i < size; i++) sum += vectors[i * size + k]! * right[i]!;
      if (value > 10 * SINGULAR) for (let i = 0; i < size; i++) y[r + i]! += (vectors[i * size + k]! * sum) / value;
      else if (Math.abs(sum) > 1e-7 * scale) this.contradicts = true;
    }
  }

  /** λ of least length for all rows, and which of them are not unique. */
  multipliers(): { lambda: Float64Array; open: boolean[] } {
    const count = this.rows.length + this.dependent.length;
    const lambda = this.lambda.slice(0, count);
    const open = new Array<boolean>(count).fill(false);
    const d = this.dependent.length;
    if (d === 0) return { lambda, open };
    // Combinations of λ that do nothing, made orthonormal; λ has no part along them.
    const nothing: Float64Array[] = [];
    for (const { row, by } of this.dependent) {
      const z = new Float64Array(count);
      if (this.lengths[row]! === 0) z[row] = 1;
      else {
        z[row] = 1 / this.lengths[row]!;
        by.forEach((c, k) => (z[this.rows[k]!] = -c / this.lengths[this.rows[k]!]!));
      }
      for (const other of nothing) {
        const along = dot(z, other);
        for (let i = 0; i < count; i++) z[i]! -= along * other[i]!;
      }
      const length = Math.sqrt(dot(z, z));
      if (!(length > 0)) continue;
      for (let i = 0; i < count; i++) z[i]! /= length;
      nothing.push(z);
    }
    for (const z of nothing) {
      const along = dot(z, lambda);
      for (let i = 0; i < count; i++) {
        lambda[i]! -= along * z[i]!;
        if (Math.abs(z[i]!) > 1e-7) open[i] = true;
      }
    }
    return { lambda, open };
  }

  /** By how much rows that were left out miss b, as a part of the answer. */
  missed(a: Float64Array, bias: Float64Array): number {
    let worst = 0;
    for (const { row } of this.dependent) {
      let sum = -bias[row]!;
      let size = Math.abs(bias[row]!);
      for (let i = 0; i < this.n; i++) {
        const term = a[row * this.n + i]! * this.v[i]!;
        sum += term;
        size += Math.abs(term);
      }
      if (size > 0) worst = Math.max(worst, Math.abs(sum) / size);
    }
    return worst;
  }
}

export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Eigenvalues on the diagonal of what was a symmetric matrix, eigenvectors as columns: Jacobi's method. */
export function eigen(a: Float64Array, n: number): Float64Array {
  const v = new Float64Array(n * n);
  for (let i = 0; i < n; i++) v[i * n + i] = 1;
  for (let sweep = 0; sweep < 40; sweep++) {
    let off = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) off = Math.max(off, Math.abs(a[i * n + j]!));
    if (off < 1e-16) break;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        const apq = a[p * n + q]!;
        if (apq === 0) continue;
        const theta = (a[q * n + q]! - a[p * n + p]!) / (2 * apq);
        const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        const s = t * c;
        for (let k = 0; k < n; k++) {
          const [kp, kq] = [a[k * n + p]!, a[k * n + q]!];
          a[k * n + p] = c * kp - s * kq;
          a[k * n + q] = s * kp + c * kq;
        }
        for (let k = 0; k < n; k++) {
          const [pk, qk] = [a[p * n + k]!, a[q * n + k]!];
          a[p * n + k] = c * pk - s * qk;
          a[q * n + k] = s * pk + c * qk;
          const [vp, vq] = [v[k * n + p]!, v[k * n + q]!];
          v[k * n + p] = c * vp - s * vq;
          v[k * n + q] = s * vp + c * vq;
        }
      }
    }
  }
  return v;
}
