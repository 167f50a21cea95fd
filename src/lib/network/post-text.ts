import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { namesPrivateHost } from "./addresses.ts";
import { lookupPublic } from "./public-lookup.ts";

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

/** The answer to a post, whatever its status: the beginning of its body, as far as it is text. */
export type PostAnswer = { status: number; text: string };

/**
 * Posts a text. Follows no redirects, and unless `allowsPrivate`, uses `https` only and connects only to public addresses,
 * which it checks for each post. Rejects if no answer comes, with a message for the owner of the receiver.
 */
export async function postText(url: URL, post: Post): Promise<PostAnswer> {
  const { allowsPrivate, timeoutMs, maxAnswerBytes } = post;
  if (!allowsPrivate && url.protocol !== "https:") throw new Error("the URL must begin with https://");
  if (!allowsPrivate && namesPrivateHost(url)) throw new Error(`${url.hostname} is not a public address`);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await send(url, post, signal);
    return { status: answer.statusCode ?? 0, text: await readText(answer, maxAnswerBytes) };
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${timeoutMs / 1000} s`, { cause: error });
    throw error;
  }
}

function send(url: URL, { body, headers, allowsPrivate, ...post }: Post, signal: AbortSignal) {
  const lookup = post.lookup ?? (allowsPrivate ? undefined : lookupPublic);
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const bytes = Buffer.from(body);
  return new Promise<IncomingMessage>((resolve, reject) => {
    // No agent: a reused connection would skip the check of its address.
    const options = { method: "POST", agent: false, signal, headers: { ...headers, "Content-Length": bytes.length } };
    request(url, { ...options, ...(lookup !== undefined && { lookup }) }, resolve)
      .on("error", reject)
      .end(bytes);
  });
}

/** The first bytes of a body, as text; what does not decode becomes U+FFFD. A body that breaks off is what came of it. */
async function readText(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) break;
    }
  } finally {
    answer.destroy();
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes));
}
