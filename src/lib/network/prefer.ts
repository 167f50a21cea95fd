const tokenText = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quotedText = '"(?:[^"\\\\]|\\\\.)*"';
const preference = new RegExp(
  `^[ \\t]*(${tokenText})(?:[ \\t]*=[ \\t]*(${tokenText}|${quotedText})?)?[ \\t]*(?:;|$)`,
  "s",
);

/**
 * The value of a preference in a `Prefer` header (RFC 7240, section 2), whose fields are joined by commas; `undefined` if
 * it is absent, `""` if it has no value. Of several with one name, the first counts. Names ignore case. What cannot be
 * read is skipped, and so are parameters.
 */
export function preferenceIn(header: string, name: string): string | undefined {
  for (const element of elementsOf(header)) {
    const [, found, value = ""] = preference.exec(element) ?? [];
    if (found?.toLowerCase() === name) return unquoted(value);
  }
  return undefined;
}

/** The parts of a list, which commas separate unless they are quoted. */
function elementsOf(list: string): string[] {
  const elements: string[] = [];
  let begin = 0;
  let isQuoted = false;
  for (let at = 0; at < list.length; at++) {
    const character = list[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (character === "\\" && isQuoted) at++;
    else if (character === "," && !isQuoted) {
      elements.push(list.slice(begin, at));
      begin = at + 1;
    }
  }
  return [...elements, list.slice(begin)];
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/gs, "$1") : value;
}
