/** Where the console stands: the page, what it shows, and its filters. All of it is in the part of the address after `#`. */
export type Route = { page: string; id: string | undefined; query: Record<string, string> };

/** Reads `#/conversations/welcome?org=demo`. What cannot be read is the start page. */
export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", id] = path.split("/");
  return {
    page: page === "" ? "overview" : page,
    id: id === undefined || id === "" ? undefined : decode(id),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** The address of a page; members of the query that are empty or `undefined` are left out. */
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
