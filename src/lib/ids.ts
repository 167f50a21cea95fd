/** A UUIDv7 (RFC 9562, section 5.7), lower case: sorts by the time it was made, or by `at` (milliseconds). */
export function createId(at?: number): string {
  return at === undefined ? Bun.randomUUIDv7() : Bun.randomUUIDv7("hex", at);
}

/** The first that any id of this time (milliseconds) or later can be: every id made before it sorts before. */
export function firstIdOf(at: number): string {
  const time = Math.max(0, Math.floor(at)).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** The time that a UUIDv7 was made at, in milliseconds. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
