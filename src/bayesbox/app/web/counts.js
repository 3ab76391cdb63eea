/** The counts behind a number, in words. */

/** The counts behind a level, in words. @param {string[]} classes @param {import("./answers.js").Column} column @param {string} level @returns {string | null} */
export function countsText(classes, column, level) {
  const place = column.levels?.indexOf(level) ?? -1, { counts, n } = column;
  if (place < 0 || !counts || !n) return null;
  const of = classes.map((name, c) => {
    const range = column.sure?.[place]?.[c], sure = range ? `, 95 % ${range[0]} to ${range[1]}` : "";
    return `${counts[place][c].toLocaleString("en")} of ${n[c].toLocaleString("en")} (${name})${sure}`;
  });
  return `${column.name} = ${level}: ${of.slice(0, 6).join("; ")}`;
}
