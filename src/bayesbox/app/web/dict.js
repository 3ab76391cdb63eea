/** Values by names that come from data: a copy without a prototype, in which `constructor` and `__proto__` are names as any other. @param {Record<string, any> | null | undefined} from @returns {Record<string, any>} */
export function dict(from) {
  const own = Object.create(null);
  for (const [name, value] of Object.entries(from ?? {})) own[name] = value;
  return own;
}
