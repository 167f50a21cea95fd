import { basePath } from "./server.ts";

/** The host of the OpenID provider at which people sign in, as the server wrote it into the page; `undefined` without one. */
export const providerHost = document.querySelector<HTMLMetaElement>('meta[name="herald-provider"]')?.content;

/** Whether this browser may have the session of a person. If the server does not answer, a call will say so. */
export async function mayHaveSession(): Promise<boolean> {
  if (providerHost === undefined) return false;
  try {
    const response = await fetch(`${basePath}/console/sign-in/state`);
    return !response.ok || (await response.json()).has_session === true;
  } catch {
    return true;
  }
}

/** Goes to the provider, and then back to the page of the console that is shown now. */
export function goToProvider(): void {
  const { pathname, search, hash } = location;
  location.assign(`${basePath}/console/sign-in?to=${encodeURIComponent(pathname + search + hash)}`);
}
