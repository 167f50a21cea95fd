/** Caches rewritten SQL; the set of texts is bounded. */
export function createRewriting(rewrite: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    let rewritten = known.get(text);
    if (rewritten === undefined) {
      rewritten = rewrite(text);
      known.set(text, rewritten);
    }
    return rewritten;
  };
}
