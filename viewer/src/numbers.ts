/** Numbers as people read them. */

/** About four digits; a real minus sign; powers of ten where zeros would be counted. */
export function short(x: number | null | undefined, digits = 4): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return '–';
  if (x === 0) return '0';
  const size = Math.abs(x);
  const text =
    size >= 1e5 || size < 1e-3
      ? Number(x.toPrecision(Math.max(digits - 1, 2))).toExponential().replace('e+', 'e')
      : String(Number(x.toPrecision(digits)));
  return text.replace(/-/g, '−');
}

/** A time with as many decimals as the length of the run asks for. */
export function clock(t: number, span: number): string {
  const decimals = Math.min(Math.max(3 - Math.ceil(Math.log10(span || 1)), 0), 9);
  return t.toFixed(decimals).replace(/-/g, '−');
}

/** 1, 2 or 5 times a power of ten, next below or equal. */
export function nice(x: number): number {
  if (!(x > 0) || !Number.isFinite(x)) return 1;
  const power = 10 ** Math.floor(Math.log10(x));
  const lead = x / power;
  return power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}

/** Multiples of a step inside an interval. */
export function multiples(from: number, to: number, step: number): number[] {
  const list: number[] = [];
  if (!(step > 0) || (to - from) / step > 1000) return list;
  for (let i = Math.ceil(from / step); i * step <= to; i++) list.push(i * step);
  return list;
}
