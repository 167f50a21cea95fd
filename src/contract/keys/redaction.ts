/** Removes credentials from text that is logged or returned. */
export type Redaction = {
  /** Replaces each credential with `…`. An API key keeps its id. */
  redact(text: string): string;
  /** Adds texts to redact from now on. Ignores texts that are too short to tell from ordinary words. */
  add(secrets: readonly string[]): void;
};

const shortestSecret = 8;
const apiKey = /hk_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_[0-9A-Za-z]+/gi;
// Callers choose the input, so no pattern may scan a long text an unbounded number of times: `token` starts only at word boundaries,
// and `userInfo` is short.
/** A JSON Web Token: two JSON objects and a signature (RFC 7515, section 3.1). */
const token = /(?<![\w-])(?=[\w-]*eyJ)[\w-]+\.eyJ[\w-]+(?:\.[\w-]*)?/g;
/** The user name and password in a URL (RFC 3986, section 3.2.1), including URLs escaped for a URL or a JSON Pointer. */
const userInfo = /(:\/\/|:~1~1|%3a%2f%2f)[^\s/?#@"'\\]{0,256}?(@|%40)/gi;

/** Redacts credentials that can be recognized by their form: Herald's API keys, user tokens, and passwords in URLs. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(apiKey, "hk_$1_…").replaceAll(token, "eyJ…").replaceAll(userInfo, "$1…$2");
}

/** Redacts credentials by their form, and `secrets` of any form, also when escaped for JSON or a URL. */
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
