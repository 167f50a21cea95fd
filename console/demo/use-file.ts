import { useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../sdk/client-options.ts";
import { HeraldRequestError } from "../../sdk/errors.ts";

/** A file of a message, as far as it is known. `gone`: no message that the user may see names it. `missing`: it has no bytes. */
export type ShownFile =
  | { is: "unknown" | "gone" | "missing" }
  | { is: "failed"; reason: string }
  | { is: "there"; url: string; askedAt: number; type: string; size: number };

type Asking = { fileUrl: Client["fileUrl"]; fileId: string; isOnline: boolean };

const addressLivesMs = 9 * 60_000; // the server's live for ten minutes

/** Whether the address of a file can still be used. */
export function isFresh(file: { askedAt: number }): boolean {
  return Date.now() - file.askedAt < addressLivesMs;
}

/** Finds out what a file is, as soon as the user is online. `ask` asks again, for a file that came later, or a fresh address. */
export function useFile({ fileUrl, fileId, isOnline }: Asking): { file: ShownFile; ask(): Promise<ShownFile> } {
  const [file, setFile] = useState<ShownFile>({ is: "unknown" });
  const isMounted = useRef(true);

  async function ask(): Promise<ShownFile> {
    const found = await find(fileUrl, fileId).catch(explain);
    if (isMounted.current) setFile(found);
    return found;
  }

  useEffect(() => {
    if (isOnline && file.is !== "there") void ask();
  }, [fileId, isOnline]);
  useEffect(
    () => () => {
      isMounted.current = false;
    },
    [],
  );
  return { file, ask };
}

async function find(fileUrl: Client["fileUrl"], fileId: string): Promise<ShownFile> {
  const askedAt = Date.now();
  const url = await fileUrl(fileId);
  if (url === undefined) return { is: "gone" };
  const { ok, status, headers } = await fetch(url, { method: "HEAD" });
  if (status === 404) return { is: "missing" };
  if (!ok) return { is: "failed", reason: `the server answered ${status}` };
  const type = headers.get("content-type") ?? "";
  return { is: "there", url, askedAt, type, size: Number(headers.get("content-length")) };
}

function explain(error: unknown): ShownFile {
  const isStream = error instanceof HeraldRequestError && error.code === "not_supported";
  return { is: "failed", reason: isStream ? "this network blocks WebSockets" : "the server did not respond" };
}
