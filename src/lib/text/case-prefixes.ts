/**
 * What begins with a text, ignoring case: a letter matches itself and the one other form of it that leads back to it, such as `é`
 * and `É`. Strings are compared by code points, as UTF-8 is byte by byte.
 */
export type CasePrefix = {
  /** The first string that may match. */
  first: string;
  /** The string after the last that may match; `undefined` if none is. */
  end: string | undefined;
  matches(text: string): boolean;
  /** The first string after a text that does not match which may; `undefined` if there is none. */
  next(text: string): string | undefined;
};

const lastCodePoint = 0x10ffff;
const [firstSurrogate, afterSurrogates] = [0xd800, 0xe000];

/** Creates the prefix `text`. */
export function createCasePrefix(text: string): CasePrefix {
  const forms = [...text].map(formsOf);
  const lowest = forms.map(([form = ""]) => form);

  /** The first choice of forms that is greater than `characters` at `position` and equal before it. */
  function greaterAt(characters: readonly string[], position: number): string | undefined {
    for (let index = position; index >= 0; index--) {
      const greater = forms[index]?.find((form) => codeOf(form) > codeOf(characters[index] ?? ""));
      if (greater !== undefined) return [...characters.slice(0, index), greater, ...lowest.slice(index + 1)].join("");
    }
    return undefined;
  }

  const matches = (given: string) => {
    const characters = [...given.slice(0, 2 * forms.length)];
    return forms.every((allowed, index) => allowed.includes(characters[index] ?? ""));
  };

  return {
    first: lowest.join(""),
    end: after(forms.map((allowed) => allowed.at(-1) ?? "")),
    matches,
    next(given) {
      const characters = [...given];
      const wrong = forms.findIndex((allowed, index) => !allowed.includes(characters[index] ?? ""));
      if (wrong === -1) return undefined;
      if (wrong >= characters.length) return [...characters, ...lowest.slice(characters.length)].join("");
      return greaterAt(characters, wrong);
    },
  };
}

/** The forms of a character that count as the same, in order. */
function formsOf(character: string): string[] {
  const forms = new Set([character]);
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
  if ([...lower].length === 1 && lower.toUpperCase() === character) forms.add(lower);
  if ([...upper].length === 1 && upper.toLowerCase() === character) forms.add(upper);
  return [...forms].sort((left, right) => codeOf(left) - codeOf(right));
}

/** The first string after all that begin with these characters. */
function after(characters: readonly string[]): string | undefined {
  const index = characters.findLastIndex((character) => codeOf(character) < lastCodePoint);
  if (index === -1) return undefined;
  const code = codeOf(characters[index] ?? "") + 1;
  return [...characters.slice(0, index), String.fromCodePoint(code === firstSurrogate ? afterSurrogates : code)].join(
    "",
  );
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? -1;
}
