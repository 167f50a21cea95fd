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

/** Parses a JSON array of strings. Returns `undefined` for any other text. */
export function textsIn(text: string): string[] | undefined {
  const value = parseJson(text);
  return isTexts(value) ? value : undefined;
}

/** Whether a JSON value takes at most so many bytes as JSON. It is written as text only if it may take more. */
export function fitsAsJson(value: unknown, maxBytes: number): boolean {
  return boundOf(value, maxBytes) <= maxBytes || Buffer.byteLength(JSON.stringify(value)) <= maxBytes;
}

const bytesPerUnit = 6; // of UTF-16, as an escape
const bytesOfNumber = 24; // -1.7976931348623157e+308

/** As many bytes as a JSON value takes as JSON, or more. Stops beyond `enough`. */
function boundOf(value: unknown, enough: number): number {
  if (typeof value === "string") return 2 + bytesPerUnit * value.length;
  if (typeof value !== "object" || value === null) return bytesOfNumber;
  let bytes = 2;
  for (const [name, member] of Object.entries(value)) {
    bytes += 4 + bytesPerUnit * name.length + boundOf(member, enough);
    if (bytes > enough) break;
  }
  return bytes;
}

/**
 * JSON text that is equal for equal values: members sorted by name, without white space. All spellings of a request
 * have the same canonical text, so that its hash distinguishes a retry from another request.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(isSorted(value) ? value : sortMembers(value)) ?? "null";
}

/** Almost all values are sorted already and need no copy. */
function isSorted(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isSorted);
  if (!isObject(value)) return true;
  let before: string | undefined;
  for (const name of Object.keys(value)) {
    if ((before !== undefined && before > name) || !isSorted(value[name])) return false;
    before = name;
  }
  return true;
}

/** Copies a value with all members sorted by name. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sortMembers);
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sortMembers(member)]));
}
