import { basePath } from "./server.ts";

const name = `herald-console-key${basePath}`; // other servers may be below other paths of this host

/**
 * Keeps the key of this tab. `sessionStorage` ends with the tab and is never sent automatically. The key is never part of an address,
 * so it appears in no history and no log. If the browser allows no site data, the key lasts until the page is loaded again.
 */
function createKeyStore() {
  let inMemory: string | null = null;

  /** Does something with the storage of this tab; `undefined` if the browser refuses that, as even naming it may throw. */
  function attempt<Result>(use: (storage: Storage) => Result): Result | undefined {
    try {
      return use(sessionStorage);
    } catch {
      return undefined;
    }
  }

  return {
    read: (): string | null => inMemory ?? attempt((storage) => storage.getItem(name)) ?? null,
    write(key: string): void {
      inMemory = key;
      attempt((storage) => storage.setItem(name, key));
    },
    clear(): void {
      inMemory = null;
      attempt((storage) => storage.removeItem(name));
    },
    /** Whether the key survives that the page is loaded again. */
    isKept: (): boolean => attempt((storage) => storage.length) !== undefined,
  };
}

/** The key of this tab. */
export const keyStore = createKeyStore();
