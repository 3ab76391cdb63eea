/** Numbers as readable text. */

/** A probability as readable text. @param {number} p @returns {string} */
export function percent(p) {
  if (!Number.isFinite(p)) return "–";
  if (p > 0 && p < 0.0005) return "< 0.1 %";
  if (p < 1 && p > 0.9995) return "> 99.9 %";
  return `${(100 * p).toFixed(1)} %`;
}

/** A signed number with two decimals and a true minus sign. @param {number} x @returns {string} */
export function signed(x) {
  if (x === Infinity) return "+∞";
  if (x === -Infinity) return "−∞";
  const text = Math.abs(x).toFixed(2);
  return text === "0.00" ? "0.00" : `${x < 0 ? "−" : "+"}${text}`;
}

/** A number with few digits. @param {number} x @returns {string} */
export function short(x) {
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return x.toLocaleString("en");
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-3 || size >= 1e7) ? x.toExponential(2) : String(Number(x.toPrecision(4)));
}

/** A probability as a natural frequency: "about 2 in 3". @param {number} p @returns {string} */
export function inWords(p) {
  if (p <= 0) return "no";
  if (p >= 1) return "all";
  if (p < 0.01) return `about 1 in ${Math.round(1 / p).toLocaleString("en")}`;
  if (p > 0.99) return `all but about 1 in ${Math.round(1 / (1 - p)).toLocaleString("en")}`;
  let best = [1, 2];
  for (const below of [2, 3, 4, 5, 10]) {
    const over = Math.min(Math.max(Math.round(p * below), 1), below - 1);
    if (Math.abs(over / below - p) < Math.abs(best[0] / best[1] - p) - 0.012) best = [over, below];
  }
  return `about ${best[0]} in ${best[1]}`;
}
