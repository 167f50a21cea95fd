import type { Answer, Herald } from "../servers/herald.ts";
import type { Organization } from "../servers/organization.ts";
import type { Ask, Problem } from "./wire.ts";

/** Posts JSON text unchanged, including what `JSON.stringify` would never write. */
export function postText<T = Problem>(
  herald: Herald,
  path: string,
  body: BodyInit,
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  return herald.http<T>("POST", path, {
    body,
    headers: { "Admin-Api-Key": herald.key, "Content-Type": "application/json", ...headers },
  });
}

/** Sends a message whose `x` is the given JSON text. */
export function sendX<T = Ask>(org: Organization, cid: string, x: string): Promise<Answer<T>> {
  const text = `{"organizationId":${JSON.stringify(org.id)},"senderId":"alice","message":{"cid":${JSON.stringify(cid)},"body":"x","x":${x}}}`;
  return postText(org.herald, "/admin/message", text);
}

/**
 * The JSON text of a complete message request, with members added at three levels. Each addition begins with a comma.
 */
export function requestText(
  org: Organization,
  cid: string,
  added: { top?: string; message?: string; x?: string } = {},
): string {
  const { top = "", message = "", x = "" } = added;
  return `{"organizationId":${JSON.stringify(org.id)},"senderId":"alice","message":{"cid":${JSON.stringify(cid)},"body":"x","x":{"k":1${x}}${message}}${top}}`;
}

/** Nested arrays, `depth` levels deep. */
export function nestedArrays(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}
