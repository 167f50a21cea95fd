const name = "herald-console-key";

/**
 * The key of this tab. `sessionStorage` ends with the tab and is never sent automatically. The key is never part of an address, so it
 * appears in no history and no log.
 */
export const keyStore = {
  read: (): string | null => sessionStorage.getItem(name),
  write: (key: string): void => sessionStorage.setItem(name, key),
  clear: (): void => sessionStorage.removeItem(name),
};
