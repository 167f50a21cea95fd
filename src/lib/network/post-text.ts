import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { retryAfterMs } from "../time/retry-after.ts";
import { namesPrivateHost } from "./addresses.ts";
import { requestPublic } from "./public-lookup.ts";

/** What to post, and to whom it may go. */
export type Post = {
  body: string;
  headers: Record<string, string>;
  /** Whether it may go to an address that is not public, and by `http`. */
  allowsPrivate: boolean;
  /** For name lookup, connection and answer together. */
  timeoutMs: number;
  /** How much of the body of the answer is read. */
  maxAnswerBytes: number;
  /** The name lookup; by default, one that finds only public addresses, unless `allowsPrivate`. */
  lookup?: LookupFunction | undefined;
};

/**
 * The answer to a post, whatever its status: the beginning of its body, as far as it comes soon and is text, and how long it asks
 * to wait before the next try, if it does.
 */
export type PostAnswer = { status: number; text: string; retryAfterMs?: number };

/** The status is the answer; only so long does a body that is slow, or never ends, keep it waiting. */
const bodyWithinMs = 250;

/**
 * Posts a text. Follows no redirects, and unless `allowsPrivate`, uses `https` only and connects only to public addresses,
 * which it checks for each post. Resolves once the headers of the answer are there, and the beginning of its body or a moment has
 * passed. Rejects if no answer comes, with a message for the owner of the receiver.
 */
export async function postText(url: URL, post: Post): Promise<PostAnswer> {
  const { allowsPrivate, timeoutMs, maxAnswerBytes, lookup } = post;
  if (!allowsPrivate && url.protocol !== "https:") throw new Error("the URL must begin with https://");
  if (!allowsPrivate && namesPrivateHost(url)) throw new Error(`${url.hostname} is not a public address`);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const body = Buffer.from(post.body);
    const headers = { ...post.headers, "Content-Length": body.length };
    const given = lookup && { lookup };
    const answer = await requestPublic(url, { method: "POST", body, headers, signal, allowsPrivate, ...given });
    const asked = retryAfterMs(answer.headers, Date.now());
    const text = await readText(answer, maxAnswerBytes);
    return { status: answer.statusCode ?? 0, text, ...(asked !== undefined && { retryAfterMs: asked }) };
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${timeoutMs / 1000} s`, { cause: error });
    throw error;
  }
}

/**
 * The first bytes of a body, as text; what does not decode becomes U+FFFD. Of a body that breaks off or does not end in time, what
 * came of it.
 */
async function readText(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  const { promise: isRead, resolve } = Promise.withResolvers<void>();
  let size = 0;
  const timer = setTimeout(resolve, bodyWithinMs);
  answer
    .on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) resolve();
    })
    .once("close", resolve)
    .once("end", resolve)
    .on("error", () => resolve()); // stays, as destroying it may fail once more
  await isRead;
  clearTimeout(timer);
  answer.destroy();
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes));
}
