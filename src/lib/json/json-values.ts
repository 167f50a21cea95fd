/** Parses JSON; `undefined` if the text is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON value is an object and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses a JSON object that has a member `name` which is an object. Returns `undefined` for any other text. */
export function objectWith(text: string, name: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return isObject(value) && isObject(value[name]) ? value : undefined;
}

/** Whether a JSON value is an array of strings. */
export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
