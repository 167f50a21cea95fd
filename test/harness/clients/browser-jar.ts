/** A browser as far as signing in needs one: keeps cookies by host, and follows redirects only when told to. */
export function createBrowserJar() {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { host } = new URL(url);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    return jar;
  };

  /** Makes one request with the cookies of its host, and keeps those that it answers. */
  async function request(url: string, { headers, ...init }: RequestInit = {}): Promise<Response> {
    const jar = jarOf(url);
    const all = new Headers(headers);
    if (jar.size > 0 && !all.has("cookie"))
      all.set("Cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await fetch(url, { ...init, headers: all, redirect: "manual" });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === "" || /max-age=0\b/i.test(cookie) || /expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  return {
    cookies: (url: string) => jarOf(url),
    request,
    /** Follows redirects from `url` until one leads to an address that `isEnd` accepts, or there is none; returns that address. */
    async follow(url: string, isEnd: (url: string) => boolean = () => false): Promise<string> {
      let at = url;
      for (let count = 0; count < 10; count++) {
        const response = await request(at);
        const location = response.headers.get("location");
        if (location === null) return at;
        at = new URL(location, at).href;
        if (isEnd(at)) return at;
      }
      throw new Error(`too many redirects, the last to ${at}`);
    },
  };
}

/** What `createBrowserJar` returns. */
export type BrowserJar = ReturnType<typeof createBrowserJar>;
