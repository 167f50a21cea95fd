import { basePath } from "./server.ts";
import { withSiteData } from "./site-data.ts";

const name = `herald-console-key${basePath}`; // other servers may be below other paths of this host

/**
 * Keeps the key of this tab. `sessionStorage` ends with the tab and is never sent automatically. The key is never part of an address,
 * so it appears in no history and no log. If the browser allows no site data, the key lasts until the page is loaded again.
 */
function createKeyStore() {
  let inMemory: string | null = null;

  return {
    read: (): string | null => inMemory ?? withSiteData(() => sessionStorage.getItem(name)) ?? null,
    write(key: string): void {
      inMemory = key;
      withSiteData(() => sessionStorage.setItem(name, key));
    },
    clear(): void {
      inMemory = null;
      withSiteData(() => sessionStorage.removeItem(name));
    },
    /** Whether the key survives that the page is loaded again. */
    isKept: (): boolean => withSiteData(() => sessionStorage.length) !== undefined,
  };
}

/** The key of this tab. */
export const keyStore = createKeyStore();
