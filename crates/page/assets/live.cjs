"use strict";
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

// src/live/index.ts
var index_exports = {};
__export(index_exports, {
  live: () => live
});
module.exports = __toCommonJS(index_exports);

// src/live/gauss.ts
var SINGULAR = 1e-11;
var MORE = 1e-6;
var LIGHT = 1e-4;
var Gauss = class {
  /** `groups` tells which rows belong to one statement, and have one unit. */
  constructor(n, most, groups = null) {
    this.groups = groups;
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
  groups;
  n;
  most;
  /** The answer. */
  v;
  /** λ of the rows as they came; 0 for those that are left out. */
  lambda;
  /** Rows in use, in order. */
  rows = [];
  /** How many rows were independent before; any number may be at first. */
  known = Infinity;
  /** Whether what the rows leave free is determined. */
  unique = true;
  /** Whether it is so by equations that contradict each other: no motion at all. */
  contradicts = false;
  /** Units of the unknowns. */
  units;
  basis;
  beta;
  lengths;
  g;
  factor;
  y;
  f;
  mu;
  work;
  order;
  weights;
  /** R: its diagonal, and what is above it, column by column. */
  diagonal;
  above;
  dependent = [];
  /**
   * Takes Γ and A, `count` rows of it. With a number for `rank` independent rows are chosen: what is
   * left of a row of length 1 below it counts as nothing. Without, the rows of the last choice are
   * used. False if something is no number, or rows of that choice no longer serve.
   */
  set(metric, a, count, rank) {
    const { n, units, g } = this;
    let largest = 0;
    for (let i = 0; i < n; i++) largest = Math.max(largest, metric[i * n + i]);
    if (!(largest >= 0) || largest === Infinity) return false;
    for (let i = 0; i < n; i++) units[i] = 1 / Math.sqrt(Math.max(metric[i * n + i], LIGHT * largest) || 1);
    if (!this.orthogonalize(a, count, rank)) return false;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) g[i * n + j] = metric[i * n + j] * units[i] * units[j];
    for (let k = 0; k < this.rows.length; k++) {
      for (let j = 0; j < n; j++) this.reflect(k, g, j, n);
      for (let i = 0; i < n; i++) this.reflect(k, g, i * n, 1);
    }
    return this.cholesky();
  }
  /** Forgets what was decided. */
  forget() {
    this.known = Infinity;
  }
  /** Applies the reflection of a row to numbers `stride` apart. */
  reflect(k, x, at, stride) {
    const { n, basis } = this;
    const own = k * n;
    let sum = 0;
    for (let i = k; i < n; i++) sum += basis[own + i] * x[at + i * stride];
    sum *= this.beta[k];
    if (sum === 0) return;
    for (let i = k; i < n; i++) x[at + i * stride] -= sum * basis[own + i];
  }
  /** Splits the unknowns by the rows; nothing is allocated where rows are those of before. */
  orthogonalize(a, count, rank) {
    const { n, units, basis, lengths, work, order, above, most } = this;
    let size = 0;
    if (rank === null) for (const row of this.rows) order[size++] = row;
    else for (let row = 0; row < count; row++) order[size++] = row;
    for (let j = 0; j < size; j++) {
      const row = order[j];
      let square = 0;
      for (let i = 0; i < n; i++) {
        const value = a[row * n + i] * units[i];
        work[j * n + i] = value;
        square += value * value;
      }
      const length = Math.sqrt(square);
      if (!Number.isFinite(length)) return false;
      lengths[row] = length;
      if (length > 0) for (let i = 0; i < n; i++) work[j * n + i] /= length;
    }
    if (rank !== null) this.weigh(size);
    let used = 0;
    while (used < size && used < n) {
      let best = used;
      if (rank !== null) {
        let largest = -1;
        for (let j = used; j < size; j++) {
          const own2 = this.rest(used, j) * this.weights[order[j]];
          if (own2 > largest) [largest, best] = [own2, j];
        }
        if (!(largest > (used < this.known ? rank : Math.max(rank, MORE)))) break;
        this.swap(best, used);
      }
      const own = used * n;
      const length = this.rest(used, used);
      if (!(length > 1e-13)) return false;
      const alpha = work[own + used] > 0 ? -length : length;
      let square = 0;
      for (let i = 0; i < n; i++) {
        const value = i < used ? 0 : work[own + i] - (i === used ? alpha : 0);
        basis[own + i] = value;
        square += value * value;
      }
      this.beta[used] = 2 / square;
      this.diagonal[used] = alpha;
      for (let k = 0; k < used; k++) above[used * most + k] = work[own + k];
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
      this.dependent.push({ row: order[j], by: Array.from(by) });
    }
    return true;
  }
  /** What is left of a row in the unknowns from k on. */
  rest(k, j) {
    let square = 0;
    for (let i = j * this.n + k; i < (j + 1) * this.n; i++) square += this.work[i] * this.work[i];
    return Math.sqrt(square);
  }
  swap(a, b) {
    const { n, work, order } = this;
    if (a === b) return;
    [order[a], order[b]] = [order[b], order[a]];
    for (let i = 0; i < n; i++) [work[a * n + i], work[b * n + i]] = [work[b * n + i], work[a * n + i]];
  }
  /** Of a statement with several rows, those that vanish here would be no use to go by. */
  weigh(size) {
    const { groups, weights, lengths, order } = this;
    weights.fill(1);
    if (!groups) return;
    const most = /* @__PURE__ */ new Map();
    for (let j = 0; j < size; j++) {
      const group = groups[order[j]];
      most.set(group, Math.max(most.get(group) ?? 0, lengths[order[j]]));
    }
    for (let j = 0; j < size; j++) weights[order[j]] = lengths[order[j]] / (most.get(groups[order[j]]) || 1);
  }
  /** R x = y, in place, for the first r. */
  back(y, r) {
    for (let k = r - 1; k >= 0; k--) {
      for (let j = k + 1; j < r; j++) y[k] -= this.above[j * this.most + k] * y[j];
      y[k] /= this.diagonal[k];
    }
  }
  /** Cholesky of what is left of Γ; if that fails, `unique` is false. */
  cholesky() {
    const { n, g, factor } = this;
    const r = this.rows.length;
    this.unique = true;
    this.contradicts = false;
    for (let i = r; i < n; i++) {
      for (let j = r; j <= i; j++) {
        let sum = g[i * n + j];
        for (let k = r; k < j; k++) sum -= factor[i * n + k] * factor[j * n + k];
        if (i === j) {
          if (Number.isNaN(sum)) return false;
          if (!(sum > SINGULAR)) {
            this.unique = false;
            return true;
          }
          factor[i * n + i] = Math.sqrt(sum);
        } else factor[i * n + j] = sum / factor[j * n + j];
      }
    }
    return true;
  }
  /** Solves for a force and a right side; both as they belong to the rows of `set`. */
  solve(force, bias) {
    const { n, units, y, g, f, factor, v, lambda } = this;
    const r = this.rows.length;
    for (let i = 0; i < n; i++) f[i] = force ? force[i] * units[i] : 0;
    for (let k = 0; k < r; k++) this.reflect(k, f, 0, 1);
    for (let k = 0; k < r; k++) {
      const row = this.rows[k];
      let sum = bias ? bias[row] / this.lengths[row] : 0;
      for (let j = 0; j < k; j++) sum -= this.above[k * this.most + j] * y[j];
      y[k] = sum / this.diagonal[k];
    }
    for (let i = r; i < n; i++) {
      let sum = f[i];
      for (let k = 0; k < r; k++) sum -= g[i * n + k] * y[k];
      y[i] = sum;
    }
    if (this.unique) {
      for (let i = r; i < n; i++) {
        for (let k = r; k < i; k++) y[i] -= factor[i * n + k] * y[k];
        y[i] /= factor[i * n + i];
      }
      for (let i = n - 1; i >= r; i--) {
        for (let k = i + 1; k < n; k++) y[i] -= factor[k * n + i] * y[k];
        y[i] /= factor[i * n + i];
      }
    } else this.least();
    const { mu } = this;
    for (let k = 0; k < r; k++) {
      let sum = -f[k];
      for (let i = 0; i < n; i++) sum += g[k * n + i] * y[i];
      mu[k] = sum;
    }
    this.back(mu, r);
    lambda.fill(0);
    for (let k = 0; k < r; k++) lambda[this.rows[k]] = mu[k] / this.lengths[this.rows[k]];
    v.set(y);
    for (let k = r - 1; k >= 0; k--) this.reflect(k, v, 0, 1);
    for (let i = 0; i < n; i++) v[i] *= units[i];
  }
  /** The shortest y₂ where the metric is singular. */
  least() {
    const { n, g, y } = this;
    const r = this.rows.length;
    const size = n - r;
    const matrix = new Float64Array(size * size);
    for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) matrix[i * size + j] = g[(r + i) * n + r + j];
    const vectors = eigen(matrix, size);
    const right = y.slice(r);
    let scale = 0;
    for (let i = 0; i < size; i++) scale = Math.max(scale, Math.abs(right[i]));
    y.fill(0, r);
    for (let k = 0; k < size; k++) {
      const value = matrix[k * size + k];
      let sum = 0;
      for (let i = 0; i < size; i++) sum += vectors[i * size + k] * right[i];
      if (value > 10 * SINGULAR) for (let i = 0; i < size; i++) y[r + i] += vectors[i * size + k] * sum / value;
      else if (Math.abs(sum) > 1e-7 * scale) this.contradicts = true;
    }
  }
  /** λ of least length for all rows, and which of them are not unique. */
  multipliers() {
    const count = this.rows.length + this.dependent.length;
    const lambda = this.lambda.slice(0, count);
    const open = new Array(count).fill(false);
    const d = this.dependent.length;
    if (d === 0) return { lambda, open };
    const nothing = [];
    for (const { row, by } of this.dependent) {
      const z = new Float64Array(count);
      if (this.lengths[row] === 0) z[row] = 1;
      else {
        z[row] = 1 / this.lengths[row];
        by.forEach((c, k) => z[this.rows[k]] = -c / this.lengths[this.rows[k]]);
      }
      for (const other of nothing) {
        const along = dot(z, other);
        for (let i = 0; i < count; i++) z[i] -= along * other[i];
      }
      const length = Math.sqrt(dot(z, z));
      if (!(length > 0)) continue;
      for (let i = 0; i < count; i++) z[i] /= length;
      nothing.push(z);
    }
    for (const z of nothing) {
      const along = dot(z, lambda);
      for (let i = 0; i < count; i++) {
        lambda[i] -= along * z[i];
        if (Math.abs(z[i]) > 1e-7) open[i] = true;
      }
    }
    return { lambda, open };
  }
  /** By how much rows that were left out miss b, as a part of the answer. */
  missed(a, bias) {
    let worst = 0;
    for (const { row } of this.dependent) {
      let sum = -bias[row];
      let size = Math.abs(bias[row]);
      for (let i = 0; i < this.n; i++) {
        const term = a[row * this.n + i] * this.v[i];
        sum += term;
        size += Math.abs(term);
      }
      if (size > 0) worst = Math.max(worst, Math.abs(sum) / size);
    }
    return worst;
  }
};
function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
function eigen(a, n) {
  const v = new Float64Array(n * n);
  for (let i = 0; i < n; i++) v[i * n + i] = 1;
  for (let sweep = 0; sweep < 40; sweep++) {
    let off = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) off = Math.max(off, Math.abs(a[i * n + j]));
    if (off < 1e-16) break;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        const apq = a[p * n + q];
        if (apq === 0) continue;
        const theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
        const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        const s = t * c;
        for (let k = 0; k < n; k++) {
          const [kp, kq] = [a[k * n + p], a[k * n + q]];
          a[k * n + p] = c * kp - s * kq;
          a[k * n + q] = s * kp + c * kq;
        }
        for (let k = 0; k < n; k++) {
          const [pk, qk] = [a[p * n + k], a[q * n + k]];
          a[p * n + k] = c * pk - s * qk;
          a[q * n + k] = s * pk + c * qk;
          const [vp, vq] = [v[k * n + p], v[k * n + q]];
          v[k * n + p] = c * vp - s * vq;
          v[k * n + q] = s * vp + c * vq;
        }
      }
    }
  }
  return v;
}

// src/live/program.ts
function tapes(program) {
  return new Function(program.code)();
}

// src/live/model.ts
var RANK = 1e-9;
var ROUNDING = 1e-14;
var Model = class {
  constructor(program) {
    this.program = program;
    const { n, m, terms, rows } = program;
    const k = program.states.length;
    [this.n, this.m, this.k, this.size] = [n, m, k, 2 * n + k];
    this.functions = tapes(program);
    this.stateRates = new Float64Array(k);
    const size = Math.max(m, 1);
    this.metric = new Float64Array(n * n);
    this.a = new Float64Array(size * n);
    this.bias = new Float64Array(size);
    this.force = new Float64Array(n);
    this.total = new Float64Array(n);
    const { groups } = program;
    this.gauss = new Gauss(n, size, groups);
    this.positions = new Gauss(n, Math.max(rows.phi.length, 1), rows.phi.map((row) => groups[row]));
    this.velocities = new Gauss(n, Math.max(rows.psi.length, 1), rows.psi.map((row) => groups[row]));
    const hidden = program.behind ? n : 0;
    this.behind = new Float64Array(hidden);
    this.coupled = new Float64Array(program.coupled.length);
    this.input = new Float64Array(1 + this.size + hidden + program.coupled.length);
    this.output = new Float64Array(terms.metric.length + 4 * n + terms.jacobian.length + m + terms.slopes.length);
    this.residuals = new Float64Array(rows.phi.length + rows.psi.length + rows.jacobian.length);
    this.phiQ = new Float64Array(rows.phi.length * n);
    this.psiV = new Float64Array(rows.psi.length * n);
    this.right = new Float64Array(Math.max(rows.phi.length, rows.psi.length, 1));
  }
  program;
  n;
  m;
  /** How many states. */
  k;
  /** How many numbers a state of the motion has: q, q̇, z. */
  size;
  functions;
  /** Why the last thing asked for is not there. */
  trouble = "";
  evaluations = 0;
  metric;
  a;
  bias;
  force;
  total;
  gauss;
  positions;
  velocities;
  input;
  output;
  behind;
  coupled;
  residuals;
  phiQ;
  psiV;
  right;
  stateRates;
  isDecided = false;
  /** Takes the values of the parameters; those that are defined by others follow. */
  set(values) {
    const all = new Float64Array(values.length);
    const own = this.functions["parameters"];
    own.prepare(new Float64Array(0));
    own.call(values, all);
    for (const [name, tape] of Object.entries(this.functions)) if (name !== "parameters") tape.prepare(all);
    this.isDecided = false;
    for (const gauss of [this.gauss, this.positions, this.velocities]) gauss.forget();
    this.behind.fill(0);
    this.coupled.fill(0);
  }
  /** Sets t, q, q̇, z and finds what stands behind them. */
  load(t, x) {
    const { size, input } = this;
    input[0] = t;
    for (let i = 0; i < size; i++) input[1 + i] = x[i];
    if (this.program.behind) {
      const first2 = 1 + size;
      const found = newton(this.functions[this.program.behind.tape], this.program.behind, input, first2, this.behind);
      if (!found) {
        this.trouble = "velocities do not determine momenta here";
        return false;
      }
    }
    const first = input.length - this.coupled.length;
    for (let k = 0; k < this.coupled.length; k++) input[first + k] = this.coupled[k];
    return true;
  }
  /** Evaluates Γ, F + C, A and b. */
  evaluate(t, x) {
    if (!this.load(t, x)) return false;
    this.terms();
    this.metric.fill(0);
    this.a.fill(0);
    const { metric, jacobian } = this.program.terms;
    metric.forEach((place, at) => this.metric[place] = this.output[at]);
    const first = metric.length + 2 * this.n;
    jacobian.forEach((place, at) => this.a[place] = this.output[first + at]);
    for (let j = 0; j < this.m; j++) this.bias[j] = this.output[first + jacobian.length + j];
    return true;
  }
  terms() {
    const { n, output } = this;
    this.evaluations++;
    this.functions["terms"].call(this.input, output);
    const first = this.program.terms.metric.length;
    for (let i = 0; i < n; i++) {
      this.force[i] = output[first + i];
      this.total[i] = output[first + i] + output[first + n + i];
    }
  }
  /** q̈ at a state, by the rows of the last decision; false where there is none. */
  solve(t, x, decide) {
    if (!this.evaluate(t, x)) return false;
    const { gauss } = this;
    const isAnew = decide || !this.isDecided;
    if (!gauss.set(this.metric, this.a, this.m, isAnew ? RANK : null)) {
      if (isAnew || !gauss.set(this.metric, this.a, this.m, RANK)) {
        this.trouble = "forces or masses are no numbers here";
        return false;
      }
    }
    this.isDecided = true;
    gauss.solve(this.total, this.bias);
    if (this.coupled.length > 0 && !this.couple()) return false;
    if (!gauss.unique) {
      this.trouble = gauss.contradicts ? "the equations contradict each other here: a constraint is implied that is not written" : "the motion is not unique here: the masses leave an acceleration undetermined";
      return false;
    }
    for (let i = 0; i < this.n; i++) {
      if (Number.isFinite(gauss.v[i])) continue;
      this.trouble = "accelerations are no numbers here";
      return false;
    }
    return true;
  }
  /**
   * Forces that depend on multipliers: with ∂(F + C)/∂λ, the multipliers of the solution are affine in those
   * that forces are taken with, as long as no branch turns; Newton's method beyond that.
   */
  couple() {
    const { n, gauss, coupled, output, program } = this;
    const count = coupled.length;
    const first = output.length - program.terms.slopes.length;
    for (let round = 0; round < 30; round++) {
      const slopes = new Float64Array(n * count);
      program.terms.slopes.forEach((place, at) => slopes[place] = output[first + at]);
      const matrix = new Float64Array(count * count);
      const next = new Float64Array(count);
      program.coupled.forEach((row, k) => next[k] = gauss.lambda[row] - coupled[k]);
      for (let l = 0; l < count; l++) {
        const column = new Float64Array(n);
        for (let i = 0; i < n; i++) column[i] = slopes[i * count + l];
        gauss.solve(column, null);
        program.coupled.forEach((row, k) => matrix[k * count + l] = (k === l ? 1 : 0) - gauss.lambda[row]);
      }
      if (!eliminate(matrix, next, count)) break;
      let [change, size] = [0, 0];
      for (let k = 0; k < count; k++) {
        coupled[k] += next[k];
        change = Math.max(change, Math.abs(next[k]));
        size = Math.max(size, Math.abs(coupled[k]));
      }
      if (!Number.isFinite(change)) break;
      for (let k = 0; k < count; k++) this.input[this.input.length - count + k] = coupled[k];
      this.terms();
      gauss.solve(this.total, this.bias);
      if (change <= ROUNDING * 100 * size) return true;
    }
    coupled.fill(0);
    this.trouble = "friction and the force it goes by do not settle here: it may stick";
    return false;
  }
  /** The rates of (q, q̇, z). */
  rates(t, x, into) {
    if (!this.solve(t, x, false)) return false;
    const { n } = this;
    for (let i = 0; i < n; i++) {
      into[i] = x[n + i];
      into[n + i] = this.gauss.v[i];
    }
    if (this.k > 0) {
      this.functions["states"].call(this.input, this.stateRates);
      into.set(this.stateRates, 2 * n);
    }
    return true;
  }
  /** φ or ψ and their derivatives at the state that was evaluated last; how many there are. */
  level(level) {
    const { n, residuals } = this;
    const { phi, psi, jacobian } = this.program.rows;
    this.functions["rows"].call(this.input, residuals);
    if (level === 0) {
      this.phiQ.fill(0);
      jacobian.forEach((place, at) => this.phiQ[place] = residuals[phi.length + psi.length + at]);
    } else psi.forEach((row, j) => this.psiV.set(this.a.subarray(row * n, (row + 1) * n), j * n));
    const [first, count] = level === 0 ? [0, phi.length] : [phi.length, psi.length];
    for (let j = 0; j < count; j++) this.right[j] = -residuals[first + j];
    return count;
  }
  /**
   * Decides which rows are independent, at a state on the constraints. Next to it those that depend on each
   * other there are independent by an amount that is all drift.
   */
  decide(t, x) {
    if (!this.solve(t, x, true)) return false;
    for (const level of [0, 1]) {
      const [gauss, matrix] = level === 0 ? [this.positions, this.phiQ] : [this.velocities, this.psiV];
      const count = this.level(level);
      if (count > 0 && !gauss.set(this.metric, matrix, count, RANK)) return false;
    }
    return true;
  }
  /** Puts a state back onto the constraints, in place, by the rows of the last decision. */
  project(t, x) {
    const { n } = this;
    if (this.program.rows.psi.length === 0) return true;
    for (const level of [0, 1]) {
      const [gauss, matrix] = level === 0 ? [this.positions, this.phiQ] : [this.velocities, this.psiV];
      let last = Infinity;
      for (let round = 0; round < 6; round++) {
        if (!this.evaluate(t, x)) return false;
        const count = this.level(level);
        if (count === 0) break;
        if (!gauss.set(this.metric, matrix, count, null) && !gauss.set(this.metric, matrix, count, RANK)) {
          this.trouble = "constraints are no numbers here";
          return false;
        }
        gauss.solve(null, this.right);
        let [move, size] = [0, 0];
        for (let i = 0; i < n; i++) {
          move = Math.max(move, Math.abs(gauss.v[i]) / gauss.units[i]);
          size = Math.max(size, Math.abs(x[level * n + i]) / gauss.units[i]);
        }
        if (Number.isNaN(move)) return false;
        if (!(move < 0.5 * last)) break;
        for (let i = 0; i < n; i++) x[level * n + i] += gauss.v[i];
        last = move;
        if (move <= 1e-7 * size) break;
      }
    }
    return true;
  }
  /** Everything at a state on the constraints. */
  see(t, x) {
    const { n, m, k, program, gauss, output } = this;
    if (!this.solve(t, x, true)) return null;
    const { lambda, open } = gauss.multipliers();
    const a = gauss.v.slice();
    const force = new Float64Array(n);
    const input = new Float64Array(this.seen);
    const momenta = program.terms.metric.length + 2 * n + program.terms.jacobian.length + m;
    input[0] = t;
    for (let i = 0; i < n; i++) {
      let moved2 = 0;
      for (let j = 0; j < n; j++) moved2 += this.metric[i * n + j] * a[j];
      force[i] = moved2 - this.force[i];
      input[1 + i] = x[i];
      input[1 + n + i] = x[n + i];
      input[1 + 2 * n + i] = output[momenta + i];
      input[1 + 3 * n + i] = a[i];
      input[1 + 4 * n + i] = moved2 + output[momenta + n + i];
    }
    for (let j = 0; j < k; j++) input[1 + 5 * n + j] = x[2 * n + j];
    program.unknowns.forEach((unknown, at) => {
      let value;
      if ("multiplier" in unknown) value = open[unknown.multiplier] ? NaN : lambda[unknown.multiplier];
      else if ("reaction" in unknown) value = force[unknown.reaction];
      else {
        const [i, row] = unknown.share;
        value = open[row] ? NaN : this.a[row * n + i] * lambda[row];
      }
      input[1 + 5 * n + k + at] = value;
    });
    return { a, lambda, open, force, input };
  }
  /** How many inputs there are of what is seen. */
  get seen() {
    return 1 + 5 * this.n + this.k + this.program.unknowns.length;
  }
  /** t, q, q̇, p and z at a state, as events that speak of no more need them. */
  plain(t, x, into) {
    const { n, program } = this;
    into.fill(NaN);
    into[0] = t;
    for (let i = 0; i < 2 * n; i++) into[1 + i] = x[i];
    for (let j = 0; j < this.k; j++) into[1 + 5 * n + j] = x[2 * n + j];
    if (!program.momenta && !program.behind) return true;
    if (!this.load(t, x)) return false;
    this.terms();
    const momenta = program.terms.metric.length + 2 * n + program.terms.jacobian.length + this.m;
    for (let i = 0; i < n; i++) into[1 + 2 * n + i] = this.output[momenta + i];
    return true;
  }
};
function newton(tape, relation, input, first, guess) {
  const n = relation.count;
  const y = new Float64Array(n + relation.places.length);
  const matrix = new Float64Array(n * n);
  const step = new Float64Array(n);
  const size = () => {
    for (let i = 0; i < n; i++) input[first + i] = guess[i];
    tape.call(input, y);
    let sum = 0;
    for (let i = 0; i < n; i++) sum += y[i] * y[i];
    return sum;
  };
  let left = size();
  for (let round = 0; round < 60; round++) {
    if (!Number.isFinite(left)) return false;
    if (left === 0) return true;
    matrix.fill(0);
    relation.places.forEach((place, at) => matrix[place] = y[n + at]);
    for (let i = 0; i < n; i++) step[i] = -y[i];
    if (!eliminate(matrix, step, n)) return false;
    const before = guess.slice();
    let [part, isBetter, largest, moved2] = [1, false, 0, 0];
    for (let i = 0; i < n; i++) {
      largest = Math.max(largest, Math.abs(before[i]));
      moved2 = Math.max(moved2, Math.abs(step[i]));
    }
    for (let halvings = 0; halvings < 40; halvings++, part /= 2) {
      for (let i = 0; i < n; i++) guess[i] = before[i] + part * step[i];
      const next = size();
      if (next < left) {
        [left, isBetter] = [next, true];
        break;
      }
    }
    if (!isBetter) {
      guess.set(before);
      size();
      return moved2 <= 1e-10 * Math.max(largest, 1e-300);
    }
    if (moved2 <= ROUNDING * largest) return true;
  }
  return false;
}
function eliminate(a, x, n) {
  for (let c = 0; c < n; c++) {
    let p = c;
    for (let i = c + 1; i < n; i++) if (Math.abs(a[i * n + c]) > Math.abs(a[p * n + c])) p = i;
    const pivot = a[p * n + c];
    if (!(Math.abs(pivot) > 0)) return false;
    if (p !== c) {
      for (let j = 0; j < n; j++) [a[c * n + j], a[p * n + j]] = [a[p * n + j], a[c * n + j]];
      [x[c], x[p]] = [x[p], x[c]];
    }
    for (let i = c + 1; i < n; i++) {
      const f = a[i * n + c] / pivot;
      if (f === 0) continue;
      for (let j = c; j < n; j++) a[i * n + j] -= f * a[c * n + j];
      x[i] -= f * x[c];
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
  return true;
}

// src/live/events.ts
var PLACES = 8;
var LOCATED = 1e-6;
var Events = class {
  constructor(model) {
    this.model = model;
    const { events } = model.program;
    this.sides = new Int8Array(events.length);
    this.thresholds = new Float64Array(events.length);
    this.usual = new Float64Array(events.length);
    this.values = new Float64Array(events.length);
    this.input = new Float64Array(model.seen);
    this.x = new Float64Array(model.size);
    this.hasObserved = events.some((event) => event.observed);
  }
  model;
  /** +1, −1, or 0 at zero. */
  sides;
  /** Values above this have left zero, once it was there. */
  thresholds;
  usual;
  values;
  input;
  x;
  hasObserved;
  get count() {
    return this.sides.length;
  }
  /** The functions at a state. */
  evaluate(t, x) {
    const { model, values, input } = this;
    values.fill(NaN);
    if (this.hasObserved) {
      this.x.set(x);
      const seen = model.project(t, this.x) ? model.see(t, this.x) : null;
      if (!seen) return values;
      input.set(seen.input);
    } else if (!model.plain(t, x, input)) return values;
    model.functions["events"].call(input, values);
    return values;
  }
  /** Looks where a motion begins, or goes on after an event. */
  begin(t, x, happened) {
    const values = this.evaluate(t, x);
    for (let k = 0; k < this.count; k++) {
      const value = values[k];
      this.usual[k] = Math.max(this.usual[k], Math.abs(value) || 0);
      const threshold = 1e-13 * this.usual[k];
      const hasHappened = happened.includes(k) && !(Math.abs(value) > LOCATED * this.usual[k]);
      const isZero = hasHappened || !(Math.abs(value) > threshold);
      this.sides[k] = isZero ? 0 : Math.sign(value);
      this.thresholds[k] = isZero ? Math.max(threshold, 4 * Math.abs(value) || 0) : 0;
    }
  }
  arm(k, value) {
    if (this.sides[k] === 0 && Math.abs(value) > this.thresholds[k]) this.sides[k] = Math.sign(value);
  }
  /** The rate of a function along the motion. */
  slope(k, t, x) {
    const { model } = this;
    const rates2 = new Float64Array(x.length);
    if (!model.rates(t, x, rates2)) return NaN;
    let [size, rate] = [Math.abs(t), 1];
    for (let i = 0; i < x.length; i++) [size, rate] = [Math.max(size, Math.abs(x[i])), Math.max(rate, Math.abs(rates2[i]))];
    const small = 1e-6 * Math.max(size, 1e-6) / rate;
    const at = (part) => this.evaluate(t + part, x.map((value, i) => value + part * rates2[i]))[k];
    return (at(small) - at(-small)) / (2 * small);
  }
  /** The first events of a step, all that happen at once: which, and at which part of the step. */
  first(step) {
    const { events } = this.model.program;
    const state = new Float64Array(step.size);
    const value = (k, theta) => {
      step.at(theta, state);
      return this.evaluate(step.t + theta * step.h, state)[k];
    };
    for (let place = 1; place <= PLACES; place++) {
      const theta = place / PLACES;
      step.at(theta, state);
      const values = this.evaluate(step.t + theta * step.h, state).slice();
      const found = [];
      for (let k = 0; k < this.count; k++) {
        const own = values[k];
        this.usual[k] = Math.max(this.usual[k], Math.abs(own) || 0);
        const side = this.sides[k];
        if (side !== 0 && own * side <= 0) {
          const { direction } = events[k];
          const counts = direction === "both" || direction === "rising" === side < 0;
          if (counts) {
            const at = bisect((part) => value(k, part) * side, theta - 1 / PLACES, theta);
            found.push({ event: k, theta: at });
          }
        }
      }
      if (found.length > 0) {
        const theta2 = Math.min(...found.map((one) => one.theta));
        return { events: found.filter((one) => one.theta - theta2 <= 1e-12).map((one) => one.event), theta: theta2 };
      }
      for (let k = 0; k < this.count; k++) {
        const own = values[k];
        if (this.sides[k] !== 0 && own !== 0) this.sides[k] = Math.sign(own);
        else this.arm(k, own);
      }
    }
    return null;
  }
};
function bisect(f, a, b) {
  let [fa, fb] = [f(a), f(b)];
  for (let round = 0; round < 100 && b - a > 1e-15; round++) {
    const secant = a + (b - a) * fa / (fa - fb);
    const isUseful = round % 3 !== 2 && secant > a && secant < b;
    const x = isUseful ? secant : (a + b) / 2;
    if (x <= a || x >= b) break;
    const value = f(x);
    if (value > 0) [a, fa] = [x, value];
    else if (value <= 0) {
      [b, fb] = [x, value];
      if (value === 0) break;
    } else break;
  }
  return b;
}

// src/live/tableau.ts
var STAGES = 12;
var ALL_STAGES = 16;
var C = [
  0,
  0.05260015195876773,
  0.0789002279381516,
  0.1183503419072274,
  0.2816496580927726,
  0.3333333333333333,
  0.25,
  0.3076923076923077,
  0.6512820512820513,
  0.6,
  0.8571428571428571,
  1,
  1,
  0.1,
  0.2,
  0.7777777777777778
];
var A = [
  [],
  [[0, 0.05260015195876773]],
  [[0, 0.0197250569845379], [1, 0.0591751709536137]],
  [[0, 0.02958758547680685], [2, 0.08876275643042054]],
  [[0, 0.2413651341592667], [2, -0.8845494793282861], [3, 0.924834003261792]],
  [[0, 0.037037037037037035], [3, 0.17082860872947386], [4, 0.12546768756682242]],
  [[0, 0.037109375], [3, 0.17025221101954405], [4, 0.06021653898045596], [5, -0.017578125]],
  [
    [0, 0.03709200011850479],
    [3, 0.17038392571223998],
    [4, 0.10726203044637328],
    [5, -0.015319437748624402],
    [6, 0.008273789163814023]
  ],
  [
    [0, 0.6241109587160757],
    [3, -3.3608926294469414],
    [4, -0.868219346841726],
    [5, 27.59209969944671],
    [6, 20.154067550477894],
    [7, -43.48988418106996]
  ],
  [
    [0, 0.47766253643826434],
    [3, -2.4881146199716677],
    [4, -0.590290826836843],
    [5, 21.230051448181193],
    [6, 15.279233632882423],
    [7, -33.28821096898486],
    [8, -0.020331201708508627]
  ],
  [
    [0, -0.9371424300859873],
    [3, 5.186372428844064],
    [4, 1.0914373489967295],
    [5, -8.149787010746927],
    [6, -18.52006565999696],
    [7, 22.739487099350505],
    [8, 2.4936055526796523],
    [9, -3.0467644718982196]
  ],
  [
    [0, 2.273310147516538],
    [3, -10.53449546673725],
    [4, -2.0008720582248625],
    [5, -17.9589318631188],
    [6, 27.94888452941996],
    [7, -2.8589982771350235],
    [8, -8.87285693353063],
    [9, 12.360567175794303],
    [10, 0.6433927460157636]
  ],
  [
    [0, 0.054293734116568765],
    [5, 4.450312892752409],
    [6, 1.8915178993145003],
    [7, -5.801203960010585],
    [8, 0.3111643669578199],
    [9, -0.1521609496625161],
    [10, 0.20136540080403034],
    [11, 0.04471061572777259]
  ],
  [
    [0, 0.056167502283047954],
    [6, 0.25350021021662483],
    [7, -0.2462390374708025],
    [8, -0.12419142326381637],
    [9, 0.15329179827876568],
    [10, 0.00820105229563469],
    [11, 0.007567897660545699],
    [12, -8298e-6]
  ],
  [
    [0, 0.03183464816350214],
    [5, 0.028300909672366776],
    [6, 0.053541988307438566],
    [7, -0.05492374857139099],
    [10, -10834732869724932e-20],
    [11, 3825710908356584e-19],
    [12, -34046500868740456e-20],
    [13, 0.1413124436746325]
  ],
  [
    [0, -0.42889630158379194],
    [5, -4.697621415361164],
    [6, 7.683421196062599],
    [7, 4.06898981839711],
    [8, 0.3567271874552811],
    [12, -0.0013990241651590145],
    [13, 2.9475147891527724],
    [14, -9.15095847217987]
  ]
];
var B = [
  [0, 0.054293734116568765],
  [5, 4.450312892752409],
  [6, 1.8915178993145003],
  [7, -5.801203960010585],
  [8, 0.3111643669578199],
  [9, -0.1521609496625161],
  [10, 0.20136540080403034],
  [11, 0.04471061572777259]
];
var E3 = [
  [0, -0.18980075407240762],
  [5, 4.450312892752409],
  [6, 1.8915178993145003],
  [7, -5.801203960010585],
  [8, -0.4226823213237919],
  [9, -0.1521609496625161],
  [10, 0.20136540080403034],
  [11, 0.02265179219836082]
];
var E5 = [
  [0, 0.01312004499419488],
  [5, -1.2251564463762044],
  [6, -0.4957589496572502],
  [7, 1.6643771824549864],
  [8, -0.35032884874997366],
  [9, 0.3341791187130175],
  [10, 0.08192320648511571],
  [11, -0.022355307863886294]
];
var D = [[
  [0, -8.428938276109013],
  [5, 0.5667149535193777],
  [6, -3.0689499459498917],
  [7, 2.38466765651207],
  [8, 2.117034582445028],
  [9, -0.871391583777973],
  [10, 2.2404374302607883],
  [11, 0.6315787787694688],
  [12, -0.08899033645133331],
  [13, 18.148505520854727],
  [14, -9.194632392478356],
  [15, -4.436036387594894]
], [
  [0, 10.427508642579134],
  [5, 242.28349177525817],
  [6, 165.20045171727028],
  [7, -374.5467547226902],
  [8, -22.113666853125306],
  [9, 7.733432668472264],
  [10, -30.674084731089398],
  [11, -9.332130526430229],
  [12, 15.697238121770845],
  [13, -31.139403219565178],
  [14, -9.35292435884448],
  [15, 35.81684148639408]
], [
  [0, 19.985053242002433],
  [5, -387.0373087493518],
  [6, -189.17813819516758],
  [7, 527.8081592054236],
  [8, -11.57390253995963],
  [9, 6.8812326946963],
  [10, -1.0006050966910838],
  [11, 0.7777137798053443],
  [12, -2.778205752353508],
  [13, -60.19669523126412],
  [14, 84.32040550667716],
  [15, 11.99229113618279]
], [
  [0, -25.69393346270375],
  [5, -154.18974869023643],
  [6, -231.5293791760455],
  [7, 357.6391179106141],
  [8, 93.40532418362432],
  [9, -37.45832313645163],
  [10, 104.0996495089623],
  [11, 29.8402934266605],
  [12, -43.53345659001114],
  [13, 96.32455395918828],
  [14, -39.17726167561544],
  [15, -149.72683625798564]
]];

// src/live/runge-kutta.ts
var RungeKutta = class {
  constructor(size, rates2) {
    this.rates = rates2;
    this.size = size;
    const room = () => new Float64Array(size);
    this.k = Array.from({ length: ALL_STAGES }, room);
    this.dense = Array.from({ length: 7 }, room);
    [this.old, this.next, this.y] = [room(), room(), room()];
  }
  rates;
  size;
  t = 0;
  h = 0;
  old;
  /** The state at the end of the last step. */
  next;
  k;
  y;
  dense;
  hasDense = false;
  /** The rates at the beginning of the next step. */
  get first() {
    return this.k[0];
  }
  combine(row, into) {
    into.set(this.old);
    for (const [stage, a] of row) {
      const k = this.k[stage];
      const weight = this.h * a;
      for (let i = 0; i < this.size; i++) into[i] += weight * k[i];
    }
  }
  /**
   * Tries a step from x, where the rates are in `first`. Its error, the largest of all components, each
   * in units of what it may be off by; infinite where there are no rates.
   */
  step(t, h, x, allowed) {
    [this.t, this.h, this.hasDense] = [t, h, false];
    this.old.set(x);
    for (let stage = 1; stage < STAGES; stage++) {
      this.combine(A[stage], this.y);
      if (!this.rates(t + C[stage] * h, this.y, this.k[stage])) return Infinity;
    }
    this.combine(B, this.next);
    let worst = 0;
    for (let i = 0; i < this.size; i++) {
      let [five, three] = [0, 0];
      for (const [stage, e] of E5) five += e * this.k[stage][i];
      for (const [stage, e] of E3) three += e * this.k[stage][i];
      const size = Math.max(Math.abs(five), Math.abs(three));
      if (size > 0) {
        const [a, b] = [five / size, three / size];
        const error = Math.abs(h) * size * a * a / Math.sqrt(a * a + 0.01 * b * b) / allowed[i];
        if (!(error <= worst)) worst = error;
      } else if (Number.isNaN(size)) return Infinity;
    }
    return Number.isNaN(worst) ? Infinity : worst;
  }
  /** Makes states inside the last step available; false where there are no rates. */
  prepare() {
    if (this.hasDense) return true;
    const { t, h, k, dense } = this;
    if (!this.rates(t + h, this.next, k[STAGES])) return false;
    for (let stage = STAGES + 1; stage < ALL_STAGES; stage++) {
      this.combine(A[stage], this.y);
      if (!this.rates(t + C[stage] * h, this.y, k[stage])) return false;
    }
    for (let i = 0; i < this.size; i++) {
      const delta = this.next[i] - this.old[i];
      dense[0][i] = delta;
      dense[1][i] = h * k[0][i] - delta;
      dense[2][i] = 2 * delta - h * (k[STAGES][i] + k[0][i]);
      for (let power = 0; power < 4; power++) {
        let sum = 0;
        for (const [stage, d] of D[power]) sum += d * k[stage][i];
        dense[3 + power][i] = h * sum;
      }
    }
    this.hasDense = true;
    return true;
  }
  /** The state at a part of the last step. */
  at(theta, into) {
    for (let i = 0; i < this.size; i++) {
      let y = 0;
      for (let power = 6; power >= 0; power--) y = (y + this.dense[power][i]) * (power % 2 === 0 ? theta : 1 - theta);
      into[i] = this.old[i] + y;
    }
  }
};

// src/live/nearest.ts
var RANK2 = 1e-7;
var MET = 1e-9;
var Nearest = class {
  constructor(of) {
    this.of = of;
    const { unknowns: n, count } = of;
    this.gauss = new Gauss(n, Math.max(count, 1));
    this.residuals = new Float64Array(Math.max(count, 1));
    this.rows = new Float64Array(Math.max(count, 1) * n);
    this.right = new Float64Array(Math.max(count, 1));
    this.metric = new Float64Array(n * n);
  }
  of;
  gauss;
  residuals;
  rows;
  right;
  metric;
  /** The equations that were missed most. */
  missed = [];
  /** The point, or null if the equations cannot be met from here. */
  find(guess, isNearest) {
    if (this.of.unknowns === 0) return this.of.evaluate(guess, this.residuals, this.rows) && this.isMet(guess) ? guess : null;
    for (let attempt = 0; attempt < 12; attempt++) {
      const x = this.reach(moved(guess, attempt));
      if (x) return isNearest && this.of.count > 0 ? this.polish(x, guess) : x;
    }
    return null;
  }
  sizes(x) {
    let largest = 0;
    for (const value of x) largest = Math.max(largest, Math.abs(value));
    return x.map((value) => Math.abs(value) || largest || 1);
  }
  /** How far equations are off, each as a part of its terms. */
  isMet(x) {
    const n = this.of.unknowns;
    const sizes = this.sizes(x);
    const off = [];
    for (let j = 0; j < this.of.count; j++) {
      let terms = 0;
      for (let i = 0; i < n; i++) terms += Math.abs(this.rows[j * n + i]) * sizes[i];
      const left = Math.abs(this.residuals[j]);
      if (!(left <= MET * Math.max(terms, terms === 0 ? 1 : 0))) off.push([terms > 0 ? left / terms : left, j]);
    }
    off.sort((a, b) => b[0] - a[0]);
    this.missed = off.map((pair) => pair[1]);
    return off.length === 0;
  }
  /** The size of what is left, rows measured as they are at a point. */
  merit(weights) {
    let sum = 0;
    for (let j = 0; j < this.of.count; j++) sum += (this.residuals[j] * weights[j]) ** 2;
    return sum;
  }
  reach(from) {
    const { of, gauss, residuals, rows, right } = this;
    const n = of.unknowns;
    let x = from.slice();
    if (!of.evaluate(x, residuals, rows)) return null;
    for (let round = 0; round < 80 && of.count > 0; round++) {
      gauss.forget();
      if (!of.metric(x, this.metric) || !gauss.set(this.metric, rows, of.count, RANK2)) return null;
      const weights = new Float64Array(of.count);
      for (let j = 0; j < of.count; j++) {
        right[j] = -residuals[j];
        let square = 0;
        for (let i = 0; i < n; i++) square += rows[j * n + i] ** 2;
        weights[j] = square > 0 ? 1 / Math.sqrt(square) : 1;
      }
      const before = this.merit(weights);
      if (before === 0) return x;
      gauss.solve(null, right);
      const step = gauss.v.slice();
      let next = null;
      for (let part = 1; part > 1e-9; part /= 2) {
        const tried = x.map((value, i) => value + part * step[i]);
        if (of.evaluate(tried, residuals, rows) && this.merit(weights) < before) {
          next = tried;
          break;
        }
      }
      if (!next) {
        of.evaluate(x, residuals, rows);
        break;
      }
      x = next;
    }
    return this.isMet(x) ? x : null;
  }
  /** The step along the equations towards the guess, and its length. */
  towards(x, guess) {
    const { of, gauss } = this;
    const n = of.unknowns;
    if (!of.evaluate(x, this.residuals, this.rows) || !of.metric(x, this.metric)) return null;
    gauss.forget();
    if (!gauss.set(this.metric, this.rows, of.count, RANK2)) return null;
    const force = new Float64Array(n);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) force[i] += this.metric[i * n + j] * (guess[j] - x[j]);
    for (let j = 0; j < of.count; j++) this.right[j] = -this.residuals[j];
    gauss.solve(force, this.right);
    return { step: gauss.v.slice(), length: this.length(gauss.v, x), lambda: gauss.lambda.slice() };
  }
  length(step, x) {
    const sizes = this.sizes(x);
    return step.reduce((most, d, i) => Math.max(most, Math.abs(d) / sizes[i]), 0);
  }
  distance(metric, x, guess) {
    const n = x.length;
    let sum = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) sum += metric[i * n + j] * (x[i] - guess[i]) * (x[j] - guess[j]);
    return sum;
  }
  polish(from, guess) {
    let x = from;
    let towards = this.towards(x, guess);
    for (let round = 0; round < 80 && towards && towards.length > 1e-15; round++) {
      const metric = this.metric.slice();
      const distance = this.distance(metric, x, guess);
      let next = null;
      const curved = this.curved(x, guess, metric, towards.lambda);
      if (curved) {
        const there = this.reach(x.map((value, i) => value + curved[i]));
        const after = there && this.towards(there, guess);
        if (there && after && after.length < 0.5 * towards.length && this.distance(metric, there, guess) <= distance * (1 + 1e-12)) next = there;
      }
      const { step } = towards;
      for (let part = 1; !next && part > 1e-4; part /= 2) {
        const there = this.reach(x.map((value, i) => value + part * step[i]));
        if (there && this.distance(metric, there, guess) < distance) next = there;
      }
      if (!next) break;
      x = next;
      towards = this.towards(x, guess);
    }
    return x;
  }
  /** Newton's step for M(x − g) = Jᵀλ, e = 0: M is joined by −Σ λ_j ∂²e_j, from differences of J. */
  curved(x, guess, metric, lambda) {
    const { of } = this;
    const n = of.unknowns;
    const sizes = this.sizes(x);
    const [residuals, rows] = [new Float64Array(this.residuals.length), new Float64Array(this.rows.length)];
    const pull = (at) => {
      if (!of.evaluate(at, residuals, rows)) return null;
      const sum2 = new Float64Array(n);
      for (let j = 0; j < of.count; j++) for (let i = 0; i < n; i++) sum2[i] += rows[j * n + i] * lambda[j];
      return sum2;
    };
    const before = pull(x);
    const own = rows.slice();
    if (!before) return null;
    const sum = metric.slice();
    for (let i = 0; i < n; i++) {
      const small = 1e-7 * sizes[i];
      const at = x.slice();
      at[i] += small;
      const after = pull(at);
      if (!after) return null;
      for (let j = 0; j < n; j++) {
        const slope = (after[j] - before[j]) / small;
        sum[i * n + j] -= 0.5 * slope;
        sum[j * n + i] -= 0.5 * slope;
      }
    }
    let most = 0;
    for (let k = 0; k < n * n; k++) most = Math.max(most, Math.abs(sum[k] * sizes[Math.floor(k / n)] * sizes[k % n]));
    for (let j = 0; j < of.count; j++) {
      let square = 0;
      for (let i = 0; i < n; i++) square += (own[j * n + i] * sizes[i]) ** 2;
      if (!(square > 0)) continue;
      for (let a = 0; a < n; a++) for (let b = 0; b < n; b++) sum[a * n + b] += 2 * most * own[j * n + a] * own[j * n + b] / square;
    }
    const gauss = new Gauss(n, Math.max(of.count, 1));
    if (!gauss.set(sum, own, of.count, RANK2) || !gauss.unique) return null;
    const force = new Float64Array(n);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) force[i] += metric[i * n + j] * (guess[j] - x[j]);
    of.evaluate(x, residuals, rows);
    const right = residuals.map((r) => -r);
    gauss.solve(force, right);
    return gauss.v.every(Number.isFinite) ? gauss.v : null;
  }
};
function moved(guess, attempt) {
  if (attempt === 0) return guess;
  let largest = 0;
  for (const value of guess) largest = Math.max(largest, Math.abs(value));
  let state = 0x9e3779b97f4a7c15n ^ BigInt(attempt);
  const size = 0.02 * 1.7 ** (attempt - 1);
  return guess.map((value) => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    const signed = Number(state >> 33n) / 2 ** 30 - 1;
    return value + size * (Math.abs(value) || largest || 1) * signed;
  });
}

// src/live/start.ts
var MOST_TURNS = 60;
var Level = class {
  constructor(model, level, free, state, relations) {
    this.model = model;
    this.level = level;
    this.free = free;
    this.unknowns = free.length;
    this.input = state.slice();
    this.parts = relations.map(({ relation, shift }) => ({
      call: (y) => model.functions[relation.tape].call(this.input, y),
      relation,
      shift,
      y: new Float64Array(relation.count + relation.places.length)
    }));
    this.count = relations.reduce((sum, r) => sum + r.relation.count, 0);
  }
  model;
  level;
  free;
  unknowns;
  count;
  input;
  parts;
  take(x) {
    const first = 1 + this.level * this.model.n;
    this.free.forEach((i, at) => this.input[first + i] = x[at]);
  }
  evaluate(x, residuals, rows) {
    this.take(x);
    const { n } = this.model;
    const dense = new Float64Array(n);
    let row = 0;
    for (const { call, relation, shift, y } of this.parts) {
      call(y);
      let entry = 0;
      for (let j = 0; j < relation.count; j++, row++) {
        residuals[row] = y[j] - (shift ? shift[j] : 0);
        dense.fill(0);
        for (; entry < relation.places.length && Math.floor(relation.places[entry] / n) === j; entry++) {
          dense[relation.places[entry] % n] = y[relation.count + entry];
        }
        this.free.forEach((i, at) => rows[row * this.unknowns + at] = dense[i]);
        if (!Number.isFinite(residuals[row]) || !dense.every(Number.isFinite)) return false;
      }
    }
    return true;
  }
  metric(x, into) {
    this.take(x);
    const { n, program, functions } = this.model;
    const places = program.metrics[this.level];
    const y = new Float64Array(places.length);
    functions[`metric${this.level}`].call(this.input, y);
    const dense = new Float64Array(n * n);
    places.forEach((place, at) => dense[place] = y[at]);
    const size = this.unknowns;
    this.free.forEach((i, a) => this.free.forEach((j, b) => into[a * size + b] = dense[i * n + j]));
    return into.every(Number.isFinite);
  }
};
var OpenStates = class {
  constructor(model, state) {
    this.model = model;
    const { open, relation } = model.program.start.states;
    [this.unknowns, this.count] = [open.length, relation.count];
    this.input = state.slice();
    this.y = new Float64Array(relation.count + relation.places.length);
  }
  model;
  unknowns;
  count;
  input;
  y;
  evaluate(x, residuals, rows) {
    const { open, relation } = this.model.program.start.states;
    open.forEach((j, at) => this.input[1 + 2 * this.model.n + j] = x[at]);
    this.model.functions[relation.tape].call(this.input, this.y);
    residuals.set(this.y.subarray(0, this.count));
    rows.fill(0);
    relation.places.forEach((place, at) => rows[place] = this.y[this.count + at]);
    return this.y.every(Number.isFinite);
  }
  metric(_, into) {
    into.fill(0);
    for (let i = 0; i < this.unknowns; i++) into[i * this.unknowns + i] = 1;
    return true;
  }
};
function start(model, values) {
  const { n, program, functions } = model;
  const { states } = program.start;
  const given = new Float64Array(program.start.values);
  const times = new Float64Array(2);
  functions["times"].call(new Float64Array(0), times);
  const t = times[0];
  const state = new Float64Array(1 + model.size);
  state[0] = t;
  functions["startValues"].call(state, given);
  const taken = (name) => {
    const value = values[name];
    return value !== void 0 && Number.isFinite(value) ? value : void 0;
  };
  const first = 1 + 2 * n;
  for (const holds of [false, true]) for (const item of states.given) if (item.holds === holds) state[first + item.state] = given[item.at];
  program.states.forEach((name, j) => state[first + j] = taken(name) ?? state[first + j]);
  for (let turn = 0; ; turn++) {
    state.fill(0, 1, first);
    const words = motion(model, state, given, taken);
    if (words) return { words };
    if (states.open.length === 0) break;
    const found = new Nearest(new OpenStates(model, state)).find(Float64Array.from(states.open, (j) => state[first + j]), true);
    if (!found || turn >= MOST_TURNS) return { words: `no value of ${states.open.map((j) => program.states[j]).join(", ")} goes with the rest of the start` };
    let isSettled = true;
    states.open.forEach((j, at) => {
      if (!(Math.abs(found[at] - state[first + j]) <= 4 * Number.EPSILON * Math.abs(found[at]))) isSettled = false;
      state[first + j] = found[at];
    });
    if (isSettled) break;
  }
  return { x: rates(model, state) };
}
function motion(model, state, given, taken) {
  const { n, program, functions } = model;
  const { items, relations } = program.start;
  const names = [program.coordinates, program.rates];
  for (const item of items) {
    if (item.unknown !== null && !item.holds) state[1 + item.level * n + item.unknown] = given[item.at];
  }
  for (const level of [0, 1]) {
    const isFixed = new Array(n).fill(false);
    const first = 1 + level * n;
    functions["startValues"].call(state, given);
    for (const item of items) {
      if (item.level !== level || item.unknown === null || !item.holds) continue;
      state[first + item.unknown] = given[item.at];
      isFixed[item.unknown] = true;
    }
    names[level].forEach((name, i) => {
      const value = taken(name);
      if (value === void 0) return;
      state[first + i] = value;
      isFixed[i] = true;
    });
    const free = isFixed.flatMap((fixed, i) => fixed ? [] : [i]);
    const relation = relations[level];
    const equations = new Level(model, level, free, state, [
      { relation, shift: null },
      { relation: program.laws[level], shift: null }
    ]);
    const search = new Nearest(equations);
    const found = search.find(Float64Array.from(free, (i) => state[first + i]), true);
    if (!found) {
      const what = ["positions", program.momenta ? "momenta" : "velocities"][level];
      return `no ${what} satisfy these values and the constraints together`;
    }
    free.forEach((i, at) => state[first + i] = found[at]);
  }
  return "";
}
function rates(model, state) {
  const { n, program } = model;
  const x = state.slice(1);
  if (program.momenta) model.functions["velocities"].call(state, x.subarray(n, 2 * n));
  return x;
}
function reset(model, event, seen) {
  const { n, program } = model;
  const own = event.reset;
  const words = `the reset of \`${event.name}\` cannot be met`;
  const values = new Float64Array(own.count);
  model.functions[own.values].call(seen, values);
  if (!values.every(Number.isFinite)) return { words };
  const state = new Float64Array(1 + model.size);
  state[0] = seen[0];
  for (let j = 0; j < model.k; j++) state[1 + 2 * n + j] = seen[1 + 5 * n + j];
  for (let i = 0; i < n; i++) {
    state[1 + i] = seen[1 + i];
    state[1 + n + i] = seen[1 + (program.momenta ? 2 : 1) * n + i];
  }
  for (const level of [0, 1]) {
    const { values: which, unknowns, relation } = own.levels[level];
    if (level === 0 && which.length === 0) continue;
    const first = 1 + level * n;
    const isFixed = new Array(n).fill(false);
    if (level === 0) {
      which.forEach((value, at) => {
        const unknown = unknowns[at];
        if (unknown === null || unknown === void 0) return;
        if (unknown >= n) state[1 + n + unknown] = values[value];
        else [state[1 + unknown], isFixed[unknown]] = [values[value], true];
      });
    }
    const free = isFixed.flatMap((fixed, i) => fixed ? [] : [i]);
    const listed = which.filter((_, at) => level === 1 || unknowns[at] === null);
    const shift = Float64Array.from(listed, (value) => values[value]);
    const equations = new Level(model, level, free, state, [
      { relation, shift },
      { relation: program.laws[level], shift: null }
    ]);
    const found = new Nearest(equations).find(Float64Array.from(free, (i) => state[first + i]), true);
    if (!found) return { words };
    free.forEach((i, at) => state[first + i] = found[at]);
  }
  return { x: rates(model, state) };
}

// src/live/ticks.ts
var Ticks = class {
  constructor(model, from, end) {
    this.from = from;
    this.end = end;
    const { events } = model.program;
    const periods = new Float64Array(events.length);
    model.functions["periods"].call(new Float64Array(0), periods);
    events.forEach(({ period: place }, event) => {
      const period = place === null ? NaN : periods[place];
      if (period > 0 && Number.isFinite(period)) this.list.push({ event, period });
    });
  }
  from;
  end;
  list = [];
  /** The time of a tick next to a time, and of the one after it. */
  times(period, t) {
    const forward = this.end >= this.from ? 1 : -1;
    const count = Math.round(forward * (t - this.from) / period);
    return [this.from + forward * count * period, this.from + forward * (count + 1) * period];
  }
  /** Where the motion stops next: at a tick, or at its end. */
  next(t) {
    const forward = this.end >= this.from ? 1 : -1;
    let first = this.end;
    for (const { period } of this.list) for (const time of this.times(period, t)) if (forward * (time - t) > 0 && forward * (first - time) > 0) first = time;
    return first;
  }
  /** Whether an event happens in time. */
  has(event) {
    return this.list.some((tick) => tick.event === event);
  }
  /** Events, and those that happen at this very time, in order of declaration. */
  join(t, events) {
    if (this.list.length === 0 || t === this.end) return events;
    const now2 = this.list.filter(({ period }) => this.times(period, t)[0] === t).map(({ event }) => event);
    return [.../* @__PURE__ */ new Set([...events, ...now2])].sort((a, b) => a - b);
  }
};

// src/live/simulate.ts
var CROWD = 12;
var CROWDED = 1e-3;
var MOST_EVENTS = 2e3;
function simulate(model, parameters, values, tEnd, bounds) {
  const { program, n } = model;
  const motion2 = {
    t: [],
    values: program.columns.map(() => []),
    scene: Array.from({ length: program.scene }, () => []),
    events: [],
    words: ""
  };
  const began = now();
  model.set(parameters);
  model.evaluations = 0;
  const times = new Float64Array(2);
  model.functions["times"].call(new Float64Array(0), times);
  const from = times[0];
  const end = tEnd ?? times[1];
  if (!Number.isFinite(from) || !Number.isFinite(end)) return { ...motion2, words: "the times of the run are no numbers with these values" };
  const begun = start(model, values);
  if ("words" in begun) return { ...motion2, words: begun.words };
  const x = begun.x;
  if (!x.every(Number.isFinite)) return { ...motion2, words: "the start is no number with these values" };
  const output = new Float64Array(program.seen);
  const record = (t2, state) => {
    const seen = model.see(t2, state);
    if (!seen) return false;
    model.functions["see"].call(seen.input, output);
    motion2.t.push(t2);
    program.columns.forEach((source, column) => {
      let value;
      if ("see" in source) value = output[source.see];
      else if ("multiplier" in source) value = seen.open[source.multiplier] ? NaN : seen.lambda[source.multiplier];
      else if ("reaction" in source) value = seen.force[source.reaction];
      else value = NaN;
      motion2.values[column].push(Number.isFinite(value) ? value : null);
    });
    const first = program.seen - program.scene;
    for (let k = 0; k < program.scene; k++) {
      const value = output[first + k];
      motion2.scene[k].push(Number.isFinite(value) ? value : null);
    }
    return true;
  };
  const stop = (t2, why) => ({ ...motion2, words: `stopped at t = ${short(t2)}: ${why}` });
  const { size } = model;
  const step = new RungeKutta(size, (t2, state, into) => model.rates(t2, state, into));
  const events = new Events(model);
  const ticks = new Ticks(model, from, end);
  const largest = new Float64Array(size);
  const fastest = new Float64Array(model.k);
  const allowed = new Float64Array(size);
  const trial = new Float64Array(size);
  const direction = end < from ? -1 : 1;
  const span = Math.abs(end - from);
  let t = from;
  if (!model.decide(t, x) || !record(t, x)) return stop(t, model.trouble);
  if (span === 0) return motion2;
  events.begin(t, x, []);
  const sampleAt = (k) => from + (end - from) * k / bounds.samples;
  let sample = 1;
  let h = 0;
  const resets = [];
  const weigh = () => {
    const mass = (i) => Math.sqrt(Math.max(model.metric[i * n + i], 0));
    let [place, speed, push] = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      largest[i] = Math.max(largest[i], Math.abs(x[i]));
      largest[n + i] = Math.max(largest[n + i], Math.abs(x[n + i]));
      place = Math.max(place, mass(i) * largest[i]);
      speed = Math.max(speed, mass(i) * largest[n + i]);
      push = Math.max(push, mass(i) * Math.abs(step.first[n + i]));
    }
    speed = Math.max(speed, 0.1 * Math.sqrt(place * push), 1e-3 * push * span, 1e-6 * place / span) || 1;
    place = Math.max(place, 0.01 * speed * span);
    let [smallPlace, smallSpeed] = [Infinity, Infinity];
    for (let i = 0; i < n; i++) {
      const unit = mass(i);
      if (unit > 0) [smallPlace, smallSpeed] = [Math.min(smallPlace, place / unit), Math.min(smallSpeed, speed / unit)];
    }
    for (let i = 0; i < n; i++) {
      const unit = mass(i);
      const own = (all, small) => 0.01 * (unit > 0 ? all / unit : Number.isFinite(small) ? small : 1);
      allowed[i] = bounds.tolerance * Math.max(largest[i], own(place, smallPlace));
      allowed[n + i] = bounds.tolerance * Math.max(largest[n + i], own(speed, smallSpeed));
    }
    for (let j = 0; j < model.k; j++) {
      const i = 2 * n + j;
      largest[i] = Math.max(largest[i], Math.abs(x[i]));
      fastest[j] = Math.max(fastest[j], Math.abs(step.first[i]));
      allowed[i] = bounds.tolerance * (Math.max(largest[i], 1e-3 * fastest[j] * span) || 1);
    }
  };
  const act = (list) => {
    for (const event of list) {
      const item = program.events[event];
      motion2.events.push({ t, name: item.name });
      if (motion2.events.length > MOST_EVENTS) return stop(t, `\`${item.name}\` and others happen too often`);
      if (item.action === "stop") {
        record(t, x);
        return { ...motion2, words: `\`${item.name}\` ends the run at t = ${short(t)}` };
      }
      if (item.action === "record") continue;
      if (motion2.t[motion2.t.length - 1] !== t) record(t, x);
      const inTime = ticks.has(event);
      const before = inTime ? 0 : events.slope(event, t, x);
      const seen = model.see(t, x);
      if (!seen) return stop(t, model.trouble);
      const after = reset(model, item, seen.input);
      if ("words" in after) return stop(t, after.words);
      x.set(after.x);
      if (!model.decide(t, x)) return stop(t, model.trouble);
      record(t, x);
      if (inTime) continue;
      h = 0;
      resets.push(t);
      if (resets.length > CROWD && Math.abs(t - resets[resets.length - 1 - CROWD]) < CROWDED * span) {
        return stop(t, `\`${item.name}\` happens ever more often`);
      }
      if (Math.abs(events.slope(event, t, x)) <= 1e-7 * Math.abs(before)) {
        return stop(t, `\`${item.name}\` would happen again at once`);
      }
    }
    return null;
  };
  const begins = ticks.join(t, []);
  const ended = act(begins);
  if (ended) return ended;
  if (begins.length > 0) events.begin(t, x, []);
  while ((end - t) * direction > 0) {
    if (now() - began > bounds.milliseconds) return stop(t, `this takes longer than ${bounds.milliseconds} ms`);
    if (!model.decide(t, x)) return stop(t, model.trouble);
    if (!model.rates(t, x, step.first)) return stop(t, model.trouble);
    weigh();
    if (h === 0) h = firstStep(step.first, x, allowed, span) * direction;
    const goal = ticks.next(t);
    const usual = h;
    if (Math.abs(h) > Math.abs(goal - t)) h = goal - t;
    let error = step.step(t, h, x, allowed);
    while (!(error <= 1)) {
      h *= Number.isFinite(error) ? Math.max(0.2, 0.9 * error ** -0.125) : 0.2;
      if (Math.abs(h) <= 1e-13 * Math.max(Math.abs(t), 1e-3 * span)) {
        return stop(t, model.trouble || "steps became too small: the motion is singular here, or a force jumps to and fro");
      }
      if (now() - began > bounds.milliseconds) return stop(t, `this takes longer than ${bounds.milliseconds} ms`);
      model.trouble = "";
      error = step.step(t, h, x, allowed);
    }
    const isLast = Math.abs(t + h - goal) <= 1e-12 * span;
    let reached = isLast ? goal : t + h;
    let happened = [];
    let needsDense = sample <= bounds.samples && (sampleAt(sample) - reached) * direction < 0;
    if (events.count > 0) {
      needsDense = false;
      if (!step.prepare()) return stop(t, model.trouble);
      const found = events.first(step);
      if (found) {
        happened = found.events;
        reached = t + found.theta * step.h;
        step.at(found.theta, trial);
      } else trial.set(step.next);
    } else trial.set(step.next);
    if (needsDense && !step.prepare()) return stop(t, model.trouble);
    const inside = new Float64Array(size);
    for (; sample <= bounds.samples && (sampleAt(sample) - reached) * direction < 0; sample++) {
      const at = sampleAt(sample);
      step.prepare();
      step.at((at - step.t) / step.h, inside);
      if (!model.project(at, inside) || !record(at, inside)) return stop(at, model.trouble);
    }
    x.set(trial);
    t = reached;
    if (!model.project(t, x)) return stop(t, model.trouble || "the constraints cannot be met");
    if (!x.every(Number.isFinite)) return stop(t, "the state is no number any more");
    h *= Math.min(6, error === 0 ? 6 : 0.9 * error ** -0.125);
    if (isLast && Math.abs(h) < Math.abs(usual)) h = usual;
    happened = ticks.join(t, happened);
    const over = act(happened);
    if (over) return over;
    if (happened.length > 0) events.begin(t, x, happened);
  }
  if (motion2.t[motion2.t.length - 1] !== t && !record(t, x)) return stop(t, model.trouble);
  return motion2;
}
function firstStep(rates2, x, allowed, span) {
  let [position, rate] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    position = Math.max(position, Math.abs(x[i]) / allowed[i]);
    rate = Math.max(rate, Math.abs(rates2[i]) / allowed[i]);
  }
  const h = rate > 0 && position > 0 ? 0.01 * position / rate : 1e-6 * span;
  return Math.min(Math.max(h, 1e-9 * span), 0.01 * span);
}
function now() {
  return performance.now();
}
function short(x) {
  return String(Number(x.toPrecision(6)));
}

// src/live/index.ts
var MILLISECONDS = 250;
function live(page) {
  if (!("code" in page.live)) return null;
  const program = page.live;
  const usual = new Map([...page.parameters, ...page.inputs, ...page.starts].map((slider) => [slider.name, slider.value]));
  let model = null;
  return {
    simulate(values, tEnd, bounds = {}) {
      const limits = { milliseconds: MILLISECONDS, tolerance: program.tolerance, samples: program.samples, ...bounds };
      try {
        model ??= new Model(program);
        const parameters = Float64Array.from(program.parameters.values);
        const starts = {};
        for (const [name, value] of Object.entries(values)) {
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
    }
  };
}
