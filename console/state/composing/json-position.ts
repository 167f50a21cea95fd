/** The position of a JSON syntax error, with lines and columns from 1, and what was expected there. */
export type JsonFault = { index: number; line: number; column: number; expected: string };

const space = /[ \t\n\r]*/y;
const number = /-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const startOfString = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;
const word = /true|false|null/y;
const maxDepth = 500; // far more than the server accepts, and far less than the stack allows

/** Finds the first violation of the JSON grammar (RFC 8259), or returns `undefined`. Each browser reports it differently. */
export function findJsonFault(text: string): JsonFault | undefined {
  let index = 0;

  const eat = (pattern: RegExp): boolean => {
    pattern.lastIndex = index;
    const found = pattern.exec(text);
    if (found === null) return false;
    index += found[0].length;
    return true;
  };
  const eatChar = (char: string): boolean => {
    eat(space);
    if (text[index] !== char) return false;
    index += 1;
    return true;
  };

  /** What was expected at `index`, or nothing if there is a value. */
  function value(depth: number): string | undefined {
    if (depth > maxDepth) return "less nesting";
    if (eatChar("{")) return members("}", depth, () => name() ?? (eatChar(":") ? undefined : "a colon"));
    if (eatChar("[")) return members("]", depth, () => undefined);
    eat(space);
    if (text[index] === '"') return quoted();
    return eat(number) || eat(word) ? undefined : "a value";
  }
  function quoted(): string | undefined {
    if (eat(string)) return undefined;
    eat(startOfString);
    return index >= text.length || text[index] === "\n" ? 'a closing "' : "another character in the text";
  }
  function name(): string | undefined {
    eat(space);
    return text[index] === '"' ? quoted() : "a name in double quotes";
  }
  function members(end: "}" | "]", depth: number, before: () => string | undefined): string | undefined {
    if (eatChar(end)) return undefined;
    for (;;) {
      const expected = before() ?? value(depth + 1);
      if (expected !== undefined) return expected;
      if (eatChar(end)) return undefined;
      if (!eatChar(",")) return `a comma or ${end}`;
    }
  }

  const expected = value(0);
  eat(space);
  if (expected === undefined && index === text.length) return undefined;
  const before = text.slice(0, index).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  return { index, line: before.length, column, expected: expected ?? "the end" };
}
