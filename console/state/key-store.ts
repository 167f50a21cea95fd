const name = "herald-console-key";

/**
 * The key of this tab. `sessionStorage` ends with the tab and is not sent anywhere by itself; a key never stands in an address,
 * so it is in no history and no log.
 */
export const keyStore = {
  read: (): string | null => sessionStorage.getItem(name),
  write: (key: string): void => sessionStorage.setItem(name, key),
  clear: (): void => sessionStorage.removeItem(name),
};
