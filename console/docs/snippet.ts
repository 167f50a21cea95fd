/** A piece of a snippet; a hit begins with a word that was found. */
export type Piece = { text: string; isHit: boolean };

const before = 50;
const length = 160;

/** The part of a text in which one of the words first stands, with an ellipsis where it is cut. */
export function snippetOf(text: string, words: readonly string[]): Piece[] {
  const pattern = hitsOf(words);
  const first = pattern === undefined ? 0 : Math.max(text.search(pattern), 0);
  const start = first <= before ? 0 : text.indexOf(" ", first - before) + 1;
  const end = text.length <= start + length ? text.length : Math.max(text.lastIndexOf(" ", start + length), first + 1);
  const cut = `${start === 0 ? "" : "… "}${text.slice(start, end)}${end === text.length ? "" : " …"}`;
  if (pattern === undefined) return [{ text: cut, isHit: false }];
  return cut
    .split(new RegExp(`(${pattern.source})`, "giu"))
    .map((piece, at) => ({ text: piece, isHit: at % 2 === 1 }))
    .filter(({ text: piece }) => piece !== "");
}

function hitsOf(words: readonly string[]): RegExp | undefined {
  if (words.length === 0) return undefined;
  const longestFirst = words.toSorted((one, other) => other.length - one.length);
  const escaped = longestFirst.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`));
  return new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${escaped.join("|")})`, "iu");
}
