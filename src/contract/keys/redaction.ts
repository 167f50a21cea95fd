/** Takes credentials out of whatever is written down or told to others. */
export type Redaction = {
  /** The text with `…` in the place of each credential; the same text when there is none. An API key keeps its id. */
  redact(text: string): string;
  /** From now on these texts are secrets, too. Those too short to be told from ordinary words are passed over. */
  add(secrets: readonly string[]): void;
};

const shortestSecret = 8;
const apiKey = /hk_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_[0-9A-Za-z]+/gi;
// Callers choose what these are given, so none may look at a long text more than a bounded number of times: each attempt of `token`
// begins where a word does, and `userInfo` ends soon.
/** A JSON Web Token: two parts that are JSON objects, and a signature (RFC 7515, section 3.1). */
const token = /(?<![\w-])(?=[\w-]*eyJ)[\w-]+\.eyJ[\w-]+(?:\.[\w-]*)?/g;
/** Name and password in a URL (RFC 3986, section 3.2.1), also in one that was escaped for a URL or a JSON Pointer. */
const userInfo = /(:\/\/|:~1~1|%3a%2f%2f)[^\s/?#@"'\\]{0,256}?(@|%40)/gi;

/** The text without what is a credential by its form: keys of Herald's, user tokens, passwords in URLs. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(apiKey, "hk_$1_…").replaceAll(token, "eyJ…").replaceAll(userInfo, "$1…$2");
}

/** Knows credentials by their form, and `secrets`, which may have any, however they are escaped in JSON or in a URL. */
export function createRedaction(secrets: readonly string[] = []): Redaction {
  const known = new Set<string>();
  let pattern: RegExp | undefined;

  function add(more: readonly string[]): void {
    for (const secret of more) {
      if (secret.length < shortestSecret) continue;
      for (const one of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) known.add(one);
    }
    const longestFirst = [...known].sort((left, right) => right.length - left.length);
    if (longestFirst.length > 0) pattern = new RegExp(longestFirst.map(RegExp.escape).join("|"), "g");
  }

  add(secrets);
  return {
    redact: (text) => withoutCredentials(pattern === undefined ? text : text.replaceAll(pattern, "…")),
    add,
  };
}
