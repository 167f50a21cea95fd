/** A UUIDv7 (RFC 9562, section 5.7), lower case: sorts by the time it was made. */
export function createId(): string {
  return Bun.randomUUIDv7();
}
