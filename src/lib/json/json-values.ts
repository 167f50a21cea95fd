/** What a text holds as JSON; `undefined` where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value of JSON is an object, and no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object that a text holds as JSON, if there is an object of that name in it. */
export function objectWith(text: string, name: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return isObject(value) && isObject(value[name]) ? value : undefined;
}

/** Whether a value of JSON is a list of texts. */
export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
