// @ts-nocheck: evaluated in a page, whose elements have the fields that are asked for
(() => {
  const found = [];
  const visible = (el) => el.getClientRects().length > 0 && getComputedStyle(el).visibility !== "hidden";
  const said = (el) =>
    (el.getAttribute("aria-label") || [...(el.labels ?? [])].map((each) => each.textContent).join(" ") ||
      (el.closest("label")?.textContent ?? "") || el.textContent || "").trim();
  for (
    const el of document.querySelectorAll(
      "a, button, input, select, summary, [role=button], [role=slider], [tabindex='0']",
    )
  ) {
    if (visible(el) && !said(el)) found.push("no name: " + el.outerHTML.slice(0, 120));
  }
  for (const el of document.querySelectorAll("svg[role=img], svg[role=group]")) {
    if (!el.getAttribute("aria-label")) found.push("no alternative: " + el.outerHTML.slice(0, 120));
  }
  for (const el of document.querySelectorAll("th, h1, h2, h3")) {
    if (!el.textContent.trim()) found.push("empty " + el.tagName);
  }
  let level = 0;
  for (const el of document.querySelectorAll("h1, h2, h3")) {
    const own = Number(el.tagName[1]);
    if (own > level + 1) found.push("heading out of order: " + el.textContent);
    level = own;
  }
  const ids = [...document.querySelectorAll("[id]")].map((el) => el.id);
  if (new Set(ids).size !== ids.length) found.push("an id twice");
  if (!document.documentElement.lang || !document.title || !document.querySelector("main")) {
    found.push("no lang, title or main");
  }
  const rgb = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) =>
    [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (el) => {
    for (let at = el; at; at = at.parentElement) {
      const own = rgb(getComputedStyle(at).backgroundColor);
      if (own.length === 3 || own[3] > 0.99) return own;
    }
    return rgb(getComputedStyle(document.body).backgroundColor);
  };
  for (const el of document.querySelectorAll("body *")) {
    const text = [...el.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!text || !visible(el) || el.closest("svg, option, :disabled, script")) continue;
    const style = getComputedStyle(el), [a, b] = [light(rgb(style.color)), light(behind(el))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`contrast ${ratio.toFixed(2)}: ${el.textContent.slice(0, 40)}`);
  }
  return found;
});
