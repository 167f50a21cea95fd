/** A cookie that only this host has set, and that no script and no other site can read (RFC 6265bis, section 4.1.3.2). */
type Cookie = {
  /** The value in a request, if it has one. */
  read(headers: Headers): string | undefined;
  /** The value of `Set-Cookie` that gives it to the browser. */
  set(value: string, lifetimeSeconds: number): string;
  /** The value of `Set-Cookie` that takes it away. */
  clear(): string;
};

/** The cookie with the secret of a session. */
export const sessionCookie = createCookie("__Host-herald_session");

/** The cookie of a sign-in that is under way. Each has its own, as several tabs may sign in at once. */
export function signInCookie(state: string): Cookie {
  return createCookie(`__Host-herald_sign_in_${state.slice(0, 12)}`);
}

// `Lax`, as a person comes back from the provider, and follows a colleague's link, by a navigation from another site.
function createCookie(name: string): Cookie {
  const set = (value: string, lifetimeSeconds: number) =>
    `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${lifetimeSeconds}`;
  return {
    read(headers) {
      const pairs = headers.get("cookie")?.split(";") ?? [];
      const found = pairs.map((pair) => pair.trim()).find((pair) => pair.startsWith(`${name}=`));
      return found?.slice(name.length + 1);
    },
    set,
    clear: () => set("", 0),
  };
}
