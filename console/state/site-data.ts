/** Uses the storage of this site; `undefined` if the browser allows no site data, as even naming a storage may throw. */
export function withSiteData<Result>(use: () => Result): Result | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
