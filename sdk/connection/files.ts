import { HeraldConnectionError, HeraldRequestError } from "../errors.ts";
import { readError } from "./frames.ts";

/** What reading files needs of the client. `root` is the server's address; `token` is a fresh user token. */
type Dependencies = {
  request: (name: string, parameters: Record<string, unknown>) => Promise<Record<string, unknown>>;
  isStream: () => boolean;
  root: () => string;
  token: () => string | Promise<string>;
};

type Asked = { fileId: string; resolve: (url: string | undefined) => void; reject: (error: unknown) => void };

/** The maximum that a server accepts in one request. */
const idsPerRequest = 100;

/** Creates what reads the files of messages. */
export function createFiles({ request, isStream, root, token }: Dependencies) {
  let asked: Asked[] = [];

  async function ask(some: Asked[]): Promise<void> {
    try {
      const from = root();
      const { file_urls } = await request("get_file_urls", {
        file_ids: [...new Set(some.map(({ fileId }) => fileId))],
      });
      const urls = new Map<string, unknown>(Object.entries(file_urls ?? {}));
      for (const { fileId, resolve } of some) {
        const url = urls.get(fileId);
        resolve(typeof url === "string" ? addressBelow(from, url) : undefined);
      }
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }

  /** The address of a file. Those that are asked for in one go share a request. */
  function url(fileId: string): Promise<string | undefined> {
    if (asked.length === 0)
      setTimeout(() => {
        const all = asked;
        asked = [];
        while (all.length > 0) void ask(all.splice(0, idsPerRequest));
      });
    return new Promise((resolve, reject) => asked.push({ fileId, resolve, reject }));
  }

  /** Opens a file: by its address, or by the token where there is no WebSocket to ask for one. */
  async function download(fileId: string, { signal }: { signal?: AbortSignal | undefined }): Promise<Response> {
    const isByToken = isStream();
    const address = isByToken ? `${root()}/files/${encodeURIComponent(fileId)}` : await url(fileId);
    if (address === undefined) throw new HeraldRequestError(notFound);
    const headers: Record<string, string> = isByToken ? { Authorization: `Bearer ${await token()}` } : {};
    let response: Response;
    try {
      response = await fetch(address, { headers, ...(signal && { signal }) });
    } catch (cause) {
      signal?.throwIfAborted();
      throw new HeraldConnectionError("The file could not be downloaded: the server did not respond.", { cause });
    }
    if (response.ok) return response;
    const problem: unknown = await response.json().catch(() => ({ status: response.status }));
    throw new HeraldRequestError(readError(problem));
  }

  return { url, download };
}

const notFound = {
  status: 404,
  code: "file_not_found",
  message: "No message of the user's conversations names this file (any more).",
};

/**
 * The address of a file below the client's own of the server, which may be reached at another one by others. A server that knows the
 * path below which it is reached names it in its addresses, too.
 */
function addressBelow(root: string, address: string): string {
  const { pathname, search } = new URL(address, root);
  const path = pathname + search;
  const base = new URL(root).pathname.replace(/\/$/, "");
  return (path.startsWith(`${base}/`) ? root.slice(0, root.length - base.length) : root) + path;
}
