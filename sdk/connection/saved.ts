import { noteId, type Progress } from "./progress.ts";

/** Keeps text across reloads. `localStorage` and `sessionStorage` are such stores. */
export type Store = {
  /** The text that was stored, or `null`. */
  getItem(key: string): string | null;
  /** Stores a text in place of what was there. */
  setItem(key: string, value: string): void;
};

/** Progress that is kept in a store. */
export type Saved = {
  /** Continues where the user of a token was. Throws if the token is no JWT. */
  begin(token: string): void;
  /** Writes within a second. */
  changed(): void;
  /** Writes now, if anything has changed. */
  save(): void;
};

const storedIds = 200;
/** There is at most one write in this time. */
const writeMs = 1_000;

/**
 * Keeps `since` and the last ids in a store, for each user by itself. `onError` is called if the store fails. Throws what a function
 * that names the store throws.
 */
export function createSaved(
  progress: Progress,
  given: Store | (() => Store),
  onError: (error: unknown) => void,
): Saved {
  const store = typeof given === "function" ? given() : given;
  const { ids } = progress;
  let key: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** What is stored for the user. */
  const read = (): { since?: string; ids?: string[] } => JSON.parse((key && store.getItem(key)) || "{}");

  function save() {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    const { since } = progress;
    if (key === undefined || since === undefined) return;
    try {
      const { since: last, ids: heard = [] } = read();
      const all = [...new Set([...heard, ...[...ids].slice(-storedIds)])].slice(-storedIds);
      // Another tab that has heard this one's last message is as far or further.
      store.setItem(key, JSON.stringify({ since: heard.includes(since) ? last : since, ids: all }));
    } catch (error) {
      onError(error);
    }
  }

  return {
    begin(token) {
      const [, claims = ""] = token.split(".");
      const bytes = Uint8Array.from(atob(claims.replace(/-/g, "+").replace(/_/g, "/")), (byte) => byte.charCodeAt(0));
      const { org, sub } = JSON.parse(new TextDecoder().decode(bytes));
      const next = `herald:${JSON.stringify([org, sub])}`;
      if (next === key) return;
      if (key !== undefined) {
        save();
        ids.clear();
        progress.since = undefined;
      }
      key = next;
      const saved = read();
      progress.since ??= saved.since;
      for (const id of saved.ids ?? []) noteId(progress, id);
    },
    changed() {
      timer ??= setTimeout(save, writeMs);
    },
    save,
  };
}
