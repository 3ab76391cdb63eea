/** A copy without a prototype, for keys from data: `constructor` and `__proto__` are ordinary names. @param {Record<string, any> | null | undefined} from @returns {Record<string, any>} */
export function dict(from) {
  const own = Object.create(null);
  for (const [name, value] of Object.entries(from ?? {})) own[name] = value;
  return own;
}
