// Tables: polynomials between breaks b, four coefficients c for each piece.
function piece(d, x) {
  const count = d.c.length / 4;
  const first = d.b[0];
  const last = d.b[count];
  if (x !== x) return NaN;
  const inside = function (x) {
    let low = 0;
    let high = d.b.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (d.b[middle] <= x) low = middle + 1;
      else high = middle;
    }
    return Math.min(Math.max(low, 1), count) - 1;
  };
  if (d.outside === 'ends' && (x < first || x > last)) return NaN;
  if (d.outside === 'hold' && x < first) return -1;
  if (d.outside === 'hold' && x >= last) return count;
  if (d.outside !== 'repeat') return inside(x);
  const turns = Math.floor((x - first) / (last - first));
  // Rounding may put it beside the turn.
  const own = Math.min(Math.max(x - turns * (last - first), first), last);
  return turns * count + (own === last ? count : inside(own));
}
// A number of a piece: coefficients, where it begins and ends, where s is counted from.
function entry(d, column, piece) {
  if (piece !== piece) return NaN;
  const count = d.c.length / 4;
  const first = d.b[0];
  const last = d.b[count];
  const turns = d.outside === 'repeat' ? Math.floor(piece / count) : 0;
  const own = piece - turns * count;
  const shift = turns * (last - first);
  if (own < 0 || own >= count) {
    // Held beside the data.
    if (column === 0) return own < 0 ? d.c[0] : d.last;
    if (column === 4) return own < 0 ? -1e300 : last;
    if (column === 5) return own < 0 ? first : 1e300;
    return 0;
  }
  const at = Math.trunc(own) || 0;
  if (column < 4) return d.c[4 * at + column];
  if (column === 4) return d.outside === 'extend' && at === 0 ? -1e300 : d.b[at] + shift;
  if (column === 5) return d.outside === 'extend' && at + 1 === count ? 1e300 : d.b[at + 1] + shift;
  return d.b[at] + shift;
}
function table(d, order, x) {
  const m = piece(d, x);
  const c0 = entry(d, 0, m), c1 = entry(d, 1, m), c2 = entry(d, 2, m), c3 = entry(d, 3, m);
  const s = x - entry(d, 6, m);
  if (order === 0) return ((c3 * s + c2) * s + c1) * s + c0;
  if (order === 1) return (3 * c3 * s + 2 * c2) * s + c1;
  if (order === 2) return 6 * c3 * s + 2 * c2;
  if (order === 3) return 6 * c3;
  return m !== m ? NaN : 0;
}
