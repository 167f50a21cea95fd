/**
 * Creates a UUIDv7 (RFC 9562, section 5.7), lower case: sorts by its creation time, or by `at` (milliseconds since the
 * Unix epoch).
 */
export function createId(at?: number): string {
  return at === undefined ? Bun.randomUUIDv7() : Bun.randomUUIDv7("hex", at);
}

/**
 * A UUIDv7 of the time `at` (milliseconds since the Unix epoch) that is derived from a text: equal texts give equal
 * ids.
 */
export function derivedIdOf(at: number, text: string): string {
  const random = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  const variant = "89ab".charAt(Number.parseInt(random.charAt(3), 16) % 4);
  const head = firstIdOf(at).slice(0, "00000000-0000-7".length);
  return `${head}${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(8, 20)}`;
}

/** The lowest id of this time (milliseconds since the Unix epoch): all ids created earlier sort before it. */
export function firstIdOf(at: number): string {
  const time = Math.max(0, Math.floor(at)).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** The lowest text that sorts after an id and before all ids that do. */
export function nextOf(id: string): string {
  return `${id}-`;
}

/** The creation time of a UUIDv7, in milliseconds since the Unix epoch. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether a text is a UUIDv7 in the form in which `createId` writes it. */
export function isUuidV7(text: string): boolean {
  return text.length === 36 && uuidV7.test(text);
}

/** Separates identifiers, which must contain no control characters. */
export const idSeparator = "\u001f";

/** Joins identifiers into a text that is unique to them. */
export function joinIds(...ids: (string | number)[]): string {
  return ids.join(idSeparator);
}
