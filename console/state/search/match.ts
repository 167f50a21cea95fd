/** What can be found by a text: whole or by its beginning, ignoring case. */
export type Findable = {
  id: string;
  /** Other beginnings by which it is found, such as a name. */
  names?: readonly (string | null)[];
  /** Whether it is also found by the beginning of any word of its names. */
  isFoundByWord?: boolean;
};

/** How well something fits what was typed: 0 is the id itself. The order of results is that of ranks. */
export type Rank = 0 | 1 | 2 | 3 | 4 | 5;

/** The rank of what is offered although nobody knows whether it exists. */
export const offered: Rank = 5;

/** How well a text fits; `undefined` if it does not. An id counts more than a name, and the whole more than a beginning. */
export function rankOf(text: string, { id, names = [], isFoundByWord = false }: Findable): Rank | undefined {
  if (text === "") return undefined;
  if (id === text) return 0;
  const wanted = text.toLowerCase();
  const known = names.flatMap((name) => (name === null ? [] : [name.toLowerCase()]));
  if (known.includes(wanted)) return 1;
  if (id.toLowerCase().startsWith(wanted)) return 2;
  if (known.some((name) => name.startsWith(wanted))) return 3;
  if (isFoundByWord && known.some((name) => placeOf(name, wanted) >= 0)) return 4;
  return undefined;
}

/** A title in three parts, of which the middle one is what was typed, and may be empty. */
export function splitAt(title: string, text: string): readonly [before: string, match: string, after: string] {
  const lower = title.toLowerCase();
  const wanted = text.toLowerCase();
  const place = text === "" || lower.length !== title.length ? -1 : placeOf(lower, wanted);
  if (place < 0) return [title, "", ""];
  return [title.slice(0, place), title.slice(place, place + text.length), title.slice(place + text.length)];
}

/** Where the text stands at the beginning of a word; -1 if nowhere. */
function placeOf(title: string, text: string): number {
  for (let place = title.indexOf(text); place >= 0; place = title.indexOf(text, place + 1))
    if (place === 0 || /[^\p{L}\p{N}]/u.test(title[place - 1] ?? "")) return place;
  return -1;
}

/** A kind of result, with its heading. The order is that of groups whose best results have the same rank. */
export const kinds = {
  user: "Users",
  conversation: "Conversations",
  message: "Messages",
  system_message: "System messages",
  scheduled: "Scheduled sends",
  proposal: "Proposals",
  key: "Keys",
  webhook: "Webhooks",
  organization: "Organizations",
  elsewhere: "In other organizations",
  action: "Actions",
  page: "Pages",
} as const;

/** A kind of result. */
export type Kind = keyof typeof kinds;

/** Something that was found, and what choosing it does. */
export type Hit = {
  kind: Kind;
  /** Identifies it among those of its kind. */
  id: string;
  title: string;
  /** What else helps to recognize it. */
  note?: string | undefined;
  rank: Rank;
} & ({ href: string } | { run: () => void });

/** The results of one kind. */
export type Group = { kind: Kind; hits: readonly Hit[] };

const mostOfKind = 12;

/** Groups results by kind: the group with the best result first, and in each group the best first. */
export function groupHits(hits: readonly Hit[]): Group[] {
  const order = Object.keys(kinds) as Kind[];
  return order
    .map((kind) => ({
      kind,
      hits: hits
        .filter((hit) => hit.kind === kind)
        .sort((left, right) => left.rank - right.rank || (isSorted(kind) ? compare(left.title, right.title) : 0))
        .slice(0, mostOfKind),
    }))
    .filter(({ hits }) => hits.length > 0)
    .sort((left, right) => bestOf(left) - bestOf(right)); // a stable sort keeps the order of kinds
}

/** Actions and pages have an order of their own. */
function isSorted(kind: Kind): boolean {
  return kind !== "action" && kind !== "page";
}

function bestOf({ hits }: Group): number {
  return hits[0]?.rank ?? offered;
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
