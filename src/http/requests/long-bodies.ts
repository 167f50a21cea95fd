const mostDropped = 8 * 1024 * 1024;

/** The length of a request's body in bytes: infinite if it is not declared. */
export function bytesOfBody(headers: Headers): number {
  const declared = headers.get("content-length");
  if (declared !== null) return Number(declared);
  return headers.has("transfer-encoding") ? Number.POSITIVE_INFINITY : 0;
}

/**
 * Whether the body may be too long to be read and dropped when its request is answered before its end, which Bun does
 * as fast as it comes, without an end if it has none. Then the connection is closed (RFC 9112, section 9.6).
 */
export function isTooLongToDrop(headers: Headers): boolean {
  return bytesOfBody(headers) > mostDropped;
}
