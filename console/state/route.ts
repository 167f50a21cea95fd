/** The console's location: the page, its item and its filters, all of it after the `#` of the address. */
export type Route = { page: string; id: string | undefined; query: Record<string, string> };

/** Parses `#/conversations/welcome?org=demo`. Anything that cannot be parsed is the start page. */
export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", id] = path.split("/");
  return {
    page: page === "" ? "overview" : page,
    id: id === undefined || id === "" ? undefined : decode(id),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** The address of a page. Omits members of the query that are empty or `undefined`. */
export function routeTo(page: string, id?: string, query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `#/${page}${id === undefined ? "" : `/${encodeURIComponent(id)}`}${search}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
