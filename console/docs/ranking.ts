import MiniSearch from "minisearch";
import type { SearchData } from "../../src/contract/documents/reference/search-data.ts";

/** A part of a page, as it is indexed and shown. `isGuide`: it says how to do something. */
export type Part = {
  id: number;
  href: string;
  title: string;
  heading: string;
  address: string;
  text: string;
  isGuide: boolean;
};

/** Finds the parts for a query, the best first, and the words in the first `atMost` of them that are meant. */
export type Finder = (query: string, atMost: number) => { found: Part[]; words: string[] };

const minFuzzyLength = 5;
const guideWeight = 2;
const addressOfCall = /^(?:GET|POST|PUT|DELETE) \/\S*/;
const guide = /^(?:tutorial|how-to)\//;

/** The parts of all pages. */
export function partsOf(pages: SearchData, hrefOf: (path: string, anchor: string) => string): Part[] {
  return pages
    .flatMap(([path, title, parts]) =>
      parts.map(([anchor, heading, text]) => {
        const [address = ""] = path.startsWith("api/") ? (addressOfCall.exec(text) ?? []) : [];
        const rest = { text: text.slice(address.length).trim(), isGuide: guide.test(path) };
        return { href: hrefOf(path, anchor), title, heading, address, ...rest };
      }),
    )
    .map((part, id) => ({ id, ...part }));
}

/**
 * Creates what finds the parts with all words of a query, or, if there are none, with some of them. What is called exactly as the query
 * comes first; else a guide comes before what describes a call, an object or a command about as well.
 */
export function createFinder(parts: readonly Part[]): Finder {
  const index = new MiniSearch<Part>({
    fields: ["heading", "address", "title", "text"],
    storeFields: ["isGuide"],
    processTerm: singular,
    searchOptions: {
      boost: { heading: 4, address: 4, title: 2 },
      boostDocument: (_id, _term, stored) => (stored?.isGuide === true ? guideWeight : 1),
      prefix: true,
      fuzzy: (term) => (term.length < minFuzzyLength ? false : 0.2),
    },
  });
  index.addAll(parts);

  return (query, atMost) => {
    const all = index.search(query, { combineWith: "AND" });
    const results = all.length > 0 ? all : index.search(query);
    const found = results.flatMap(({ id }) => parts[id] ?? []);
    // Names are case-sensitive, so that the word "webhook" finds guides before the object "Webhook".
    const isNamed = ({ heading, address }: Part) => heading === query || address.toLowerCase() === query.toLowerCase();
    return {
      found: [...found.filter(isNamed), ...found.filter((part) => !isNamed(part))],
      words: [...new Set(results.slice(0, atMost).flatMap(({ terms }) => terms))],
    };
  };
}

/** A word as it is indexed and searched: without the "s" of a plural. */
function singular(term: string): string {
  return term.toLowerCase().replace(/(?<=..[^s])s$/, "");
}
