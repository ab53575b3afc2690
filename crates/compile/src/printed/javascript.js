// C has 1 to any power, and -1 to an infinite one, as 1.
function pow(a, b) {
  return a === 1 || (a === -1 && (b === Infinity || b === -Infinity)) ? 1 : Math.pow(a, b);
}
function select(c, a, b) {
  return c !== c ? NaN : c !== 0 ? a : b;
}
function sign(a) {
  return a > 0 ? 1 : a < 0 ? -1 : a === 0 ? 0 : NaN;
}
function negative(a) {
  return a !== a ? NaN : a < 0 ? 1 : 0;
}
function notPositive(a) {
  return a !== a ? NaN : a <= 0 ? 1 : 0;
}
// The first that no other is better than; NaN if one is.
function least(a, b) {
  return b !== b || b < a ? b : a;
}
function greatest(a, b) {
  return b !== b || b > a ? b : a;
}
// NaN only where the other does not decide.
function and(a, b) {
  return a === 0 || b === 0 ? 0 : a !== a || b !== b ? NaN : 1;
}
function or(a, b) {
  return (a === a && a !== 0) || (b === b && b !== 0) ? 1 : a !== a || b !== b ? NaN : 0;
}
// Gaussian elimination with row pivoting: the numbers of the other backends, in their order.
function factor(m, o, n) {
  for (let i = 0; i < n; i++) o[i] = i;
  for (let c = 0; c < n; c++) {
    let p = c;
    for (let i = c + 1; i < n; i++) if (Math.abs(m[i * n + c]) > Math.abs(m[p * n + c])) p = i;
    if (p !== c) {
      const other = o[c];
      o[c] = o[p];
      o[p] = other;
      for (let j = 0; j < n; j++) {
        const a = m[c * n + j];
        m[c * n + j] = m[p * n + j];
        m[p * n + j] = a;
      }
    }
    const inverse = 1 / m[c * n + c];
    for (let i = c + 1; i < n; i++) {
      const a = (m[i * n + c] *= inverse);
      for (let j = c + 1; j < n; j++) m[i * n + j] -= a * m[c * n + j];
    }
  }
}
function solve(m, o, n, right, s) {
  for (let i = 0; i < n; i++) s[i] = right[o[i]];
  for (let j = 0; j < n; j++) for (let i = j + 1; i < n; i++) s[i] -= m[i * n + j] * s[j];
  for (let i = n - 1; i >= 0; i--) {
    let sum = s[i];
    for (let j = i + 1; j < n; j++) sum -= m[i * n + j] * s[j];
    s[i] = sum / m[i * n + i];
  }
}
