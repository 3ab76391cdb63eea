/** Calibration: a map from the probabilities of a model to those that come true. */
import { logAddExp, num } from "./trees.js";

const SMALLEST = 1e-12;

/** Normalised log-probabilities. @param {number[]} logs @returns {number[]} */
export function normalised(logs) {
  const most = Math.max(...logs);
  const total = Math.log(logs.reduce((sum, each) => sum + Math.exp(each - most), 0));
  return logs.map((each) => each - most - total);
}

/** @param {number[]} logs @returns {number[]} */
function floored(logs) {
  return logs.map((each) => Math.max(each, Math.log(SMALLEST)));
}

/** Linear interpolation, constant beyond the ends. @param {number} x @param {number[]} at @param {number[]} values */
function interpolated(x, at, values) {
  if (x <= at[0]) return values[0];
  const last = at.length - 1;
  if (x >= at[last]) return values[last];
  let place = 0;
  while (at[place + 1] <= x) place++;
  const slope = (values[place + 1] - values[place]) / (at[place + 1] - at[place]);
  return slope * (x - at[place]) + values[place];
}

/** @param {any} by @param {number[]} logs @returns {number[]} */
function isotonic(by, logs) {
  const shares = logs.map(Math.exp), low = floored(logs);
  const found = logs.map((_, c) => {
    const others = shares.reduce((sum, share, place) => (place === c ? sum : sum + share), 0);
    const odds = low[c] - Math.log(Math.max(others, SMALLEST));
    return Math.log(Math.max(interpolated(odds, by.log_odds[c], by.probability[c]), SMALLEST));
  });
  return normalised(found);
}

/** Log-probabilities after a calibration. @param {any} by its numbers @param {number[]} logs @returns {number[]} */
export function calibrate(by, logs) {
  switch (by.kind) {
    case null:
      return logs;
    case "temperature":
      return normalised(logs.map((each) => (each === -Infinity ? each : by.power * each)));
    case "isotonic":
      return isotonic(by, logs);
    case "dirichlet": {
      const low = floored(logs);
      return normalised(
        by.offsets.map((/** @type {number} */ offset, /** @type {number} */ c) =>
          low.reduce((sum, each, place) => sum + each * by.slopes[place][c], 0) + offset
        ),
      );
    }
    case "shares":
      return logs.map((each, c) => logAddExp(Math.log1p(-by.share) + each, Math.log(by.share) + num(by.log_shares[c])));
  }
  throw new Error(`not a calibration: ${by.kind}`);
}
