/**
 * Begins a generator whose `try` starts with `yield ""`, so that its `finally` runs whatever happens: a generator of
 * which nothing was taken would end without it, for example when a caller hangs up before the response.
 */
export function beginTexts(texts: AsyncGenerator<string, void>): AsyncGenerator<string, void> {
  void texts.next();
  return texts;
}
