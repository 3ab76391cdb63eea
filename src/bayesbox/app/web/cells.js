/** Densities computed in the page: kernels at every value seen, and the cells of a rounded normal number. */

const LOG_ROOT_2_PI = 0.5 * Math.log(2 * Math.PI);

/** The Mills ratio of the normal distribution: Q(x) / phi(x) for x >= 0. @param {number} x */
function millsRatio(x) {
  if (x < 3) {
    let term = x, sum = x;
    for (let k = 3; term > sum * 1e-18; k += 2) sum += term *= x * x / k;
    return 0.5 * Math.exp(0.5 * x * x + LOG_ROOT_2_PI) - sum;
  }
  let below = x; // x + 1/(x + 2/(x + 3/(x + ...)))
  for (let k = 120; k > 0; k--) below = x + k / below;
  return 1 / below;
}

/** Nodes and weights of the ten-point Gauss rule, one side of it. */
const PLACES = [0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845, 0.9739065285171717];
const WEIGHTS = [0.2955242247147529, 0.2692667193099963, 0.2190863625159821, 0.1494513491505806, 0.0666713443086881];

/** Q(x), the upper tail of the normal distribution for x >= 0. @param {number} x @returns {number} */
function upperTail(x) {
  return millsRatio(x) * Math.exp(-0.5 * x * x - LOG_ROOT_2_PI);
}

/**
 * The log of the probability of a cell of width 1 with its centre at this distance from the mean.
 *
 * It avoids differences of nearly equal numbers: near the mean by two tails, farther away by one, and by a mean of the
 * density if it is nearly constant in the cell.
 *
 * @param {number} distance @param {number} std @returns {number}
 */
function logCell(distance, std) {
  const inner = (distance - 0.5) / std, outer = (distance + 0.5) / std;
  if (!(outer < Infinity)) return -Infinity;
  const middle = distance / std, fall = middle / std;
  if (inner < 0 && std < 0.5) return Math.log1p(-upperTail(-inner) - upperTail(outer));
  if (inner >= 0 && fall >= 1) {
    const tails = millsRatio(inner) - millsRatio(outer) * Math.exp(-fall);
    return -0.5 * inner * inner - LOG_ROOT_2_PI + Math.log(tails);
  }
  let sum = 0;
  PLACES.forEach((place, at) => {
    const half = 0.5 * place / std;
    sum += WEIGHTS[at] * Math.cosh(0.5 * place * fall) * Math.exp(-0.5 * half * half);
  });
  return Math.log(sum) - Math.log(std) - LOG_ROOT_2_PI - 0.5 * middle * middle;
}

/** The nearest integer, ties to even. @param {number} x @returns {number} */
function nearest(x) {
  const down = Math.floor(x), rest = x - down;
  return rest < 0.5 || (rest === 0.5 && down % 2 === 0) ? down : down + 1;
}

/**
 * The log of P(cell of x) in each class.
 *
 * @param {number} x
 * @param {{origin: number, step: number, exponent: number, mean: number[], meanLow: number[], std: number[]}} of
 * @returns {number[]}
 */
export function roundedLogs(x, of) {
  const cell = nearest((x * 2 ** -of.exponent - of.origin) / of.step);
  return leftOutWhereTooFar(of.mean.map((mean, c) => {
    return logCell(Math.abs(cell - mean - of.meanLow[c]), of.std[c]);
  }));
}

/**
 * The log of the sum of the kernels of each class at x.
 *
 * @param {number} x @param {{values: number[], weights: number[], width: number}[]} curves
 * @returns {number[]}
 */
export function kernelLogs(x, curves) {
  return leftOutWhereTooFar(curves.map(({ values, weights, width }) => {
    const squares = values.map((value) => 0.5 * ((x - value) / width) ** 2);
    const least = squares.reduce((a, b) => Math.min(a, b), Infinity);
    if (least === Infinity) return -Infinity;
    let sum = 0, total = 0;
    squares.forEach((square, place) => {
      sum += weights[place] * Math.exp(least - square);
      total += weights[place];
    });
    return Math.log(sum / total) - least - Math.log(width) - LOG_ROOT_2_PI;
  }));
}

/** A value that is too far from every class is ignored. @param {number[]} logs @returns {number[]} */
function leftOutWhereTooFar(logs) {
  return logs.every((each) => each === -Infinity || Number.isNaN(each)) ? logs.map(() => 0) : logs;
}
