/** The token of `Authorization: Bearer` (RFC 6750, section 2.1), or `undefined` if there is none. */
export function bearerToken(headers: Headers): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}
