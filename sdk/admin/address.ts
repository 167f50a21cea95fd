import { HeraldArgumentError } from "../errors.ts";

/**
 * The root of all addresses of a server, from the address that the caller gave. Throws `HeraldArgumentError`, which says what to write
 * and repeats nothing that may be secret.
 */
export function rootOf(url: string): string {
  const given = String(url).trim();
  const { protocol, username, password, host, pathname } = parse(given) ?? {};
  if (username || password)
    throw new HeraldArgumentError("url must not contain a user or a password: the server asks for the key only.");
  if ((protocol === "http:" || protocol === "https:") && host)
    return `${protocol}//${host}${pathname?.replace(/\/+$/, "")}`;
  const isHost = /^[\w.-]+(:\d+)?(\/[\w./-]*)?$/.test(given);
  const isSafe = !/[@?#]|hk_/.test(given); // neither a password nor a key in the wrong place
  const example = isHost && isSafe ? `http://${given}` : "http://127.0.0.1:7070";
  const not = isSafe ? `, not be ${JSON.stringify(given)}` : "";
  throw new HeraldArgumentError(`url must begin with http:// or https://, such as ${example}${not}.`);
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
