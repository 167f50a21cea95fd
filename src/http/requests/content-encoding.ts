import { HeraldError } from "../../contract/errors/errors.ts";

/**
 * Throws `unsupported_media_type` for a body with a content coding (RFC 9110, section 8.4), which would otherwise be read, or
 * stored, as if it were the content.
 */
export function requireNoEncoding(headers: Headers): void {
  const encoding = headers.get("content-encoding");
  if (encoding === null || encoding.split(",").every(isIdentity)) return;
  throw new HeraldError(
    "unsupported_media_type",
    "bodies with a `Content-Encoding` are not decoded; send the body uncompressed, without that header",
    { headers: { "Accept-Encoding": "identity" } },
  );
}

function isIdentity(coding: string): boolean {
  return /^\s*(identity)?\s*$/i.test(coding);
}
