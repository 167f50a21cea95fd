import type { Problem } from "../clients/wire.ts";
import type { Answer, Herald } from "./herald.ts";

/** An API key as described in `api.md` and `docs/`, transcribed. `key` is present when it was created or rotated. */
export type ApiKey = {
  id: string;
  name: string;
  scopes: string[];
  organization: string | null;
  allowed_senders: string[] | null;
  cidrs: string[] | null;
  expires_at: string | null;
  created_at: string;
  last_used_at: string | null;
  old_secret_expires_at: string | null;
};
export type ApiKeyWithSecret = ApiKey & { key: string };

/** Creates a key with the bootstrap key; it has every scope unless the request says otherwise. */
export async function createKey(herald: Herald, request: Record<string, unknown> = {}): Promise<ApiKeyWithSecret> {
  const body = { name: "a test's", scopes: ["*"], ...request };
  const answer = await herald.admin<ApiKeyWithSecret>("POST", "/admin/keys", body);
  if (answer.status !== 201) throw new Error(`no key: ${answer.text}`);
  return answer.body;
}

/** Makes a call with a key other than the bootstrap key. */
export function callWith<T = Problem>(
  herald: Herald,
  key: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer<T>> {
  return herald.admin<T>(method, path, body, { "Admin-Api-Key": key });
}
