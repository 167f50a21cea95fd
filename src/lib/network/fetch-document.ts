import { namesPrivateHost } from "./addresses.ts";
import { requestPublic } from "./public-lookup.ts";

type Options = {
  /** Whether a name may resolve to an address that is not public. */
  allowsPrivate: boolean;
  /** For name lookup, connection and response together. */
  timeoutMs: number;
  maxBytes: number;
};

/**
 * Fetches a small text document. Follows no redirects and connects only to addresses it has checked, so that the name's
 * owner cannot point at a private network (SSRF); a private address written in the URL itself is taken as intended.
 * Rejects unless the response is complete, valid UTF-8 and has status 200.
 */
export async function fetchDocument(url: URL, { allowsPrivate, timeoutMs, maxBytes }: Options): Promise<string> {
  const answer = await requestPublic(url, {
    signal: AbortSignal.timeout(timeoutMs),
    headers: { Accept: "application/json" },
    allowsPrivate: allowsPrivate || namesPrivateHost(url),
  });
  if (answer.statusCode !== 200) {
    answer.destroy();
    throw new Error(
      `${url.host} responded with ${answer.statusCode} instead of 200${answer.headers.location === undefined ? "" : "; redirects are not followed"}`,
    );
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += chunk.length;
    if (size > maxBytes) {
      answer.destroy();
      throw new Error(`${url.host} responded with more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}
