/** A word of a shell's command line. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** How a language writes values. `depth` is that of the indentation. */
type Notation = {
  word: (value: string | number | boolean | null) => string;
  list: readonly [open: string, close: string];
  object: readonly [open: string, close: string];
  member: (name: string, value: string) => string;
  indent: string;
};

function write(value: unknown, notation: Notation, depth = 0): string {
  const { word, list, object, member, indent } = notation;
  if (value === null || typeof value !== "object") return word(value as string | number | boolean | null);
  const [open, close] = Array.isArray(value) ? list : object;
  const inner = Array.isArray(value)
    ? value.map((item) => write(item, notation, depth + 1))
    : Object.entries(value).map(([name, item]) => member(name, write(item, notation, depth + 1)));
  if (inner.length === 0) return open + close;
  const short = `${open}${inner.join(", ")}${close}`;
  if (short.length <= 60 && !short.includes("\n")) return short;
  const margin = indent.repeat(depth + 1);
  return `${open}\n${inner.map((line) => `${margin}${line},\n`).join("")}${indent.repeat(depth)}${close}`;
}

const isName = (name: string) => /^[A-Za-z_$][\w$]*$/.test(name);

/** A value in TypeScript. */
export function typeScriptLiteral(value: unknown): string {
  return write(value, {
    word: (word) => JSON.stringify(word),
    ...{ list: ["[", "]"], object: ["{", "}"], indent: "  " },
    member: (name, text) => `${isName(name) ? name : JSON.stringify(name)}: ${text}`,
  });
}

const pythonWords = new Map<unknown, string>([
  [true, "True"],
  [false, "False"],
  [null, "None"],
]);

/** A value in Python. */
export function pythonLiteral(value: unknown, depth = 0): string {
  return write(
    value,
    {
      word: (word) => pythonWords.get(word) ?? JSON.stringify(word),
      ...{ list: ["[", "]"], object: ["{", "}"], indent: "    " },
      member: (name, text) => `${JSON.stringify(name)}: ${text}`,
    },
    depth,
  );
}
