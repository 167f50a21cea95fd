/** What somebody typed or pasted. */
export type Typed = {
  /** What to search for, without white space around it. */
  text: string;
  /** Whether it is a secret, which is sent nowhere. Of an API key, `text` is the id. */
  isSecret: boolean;
  /** Whether it was pasted or looks like an id that the server makes, so that it is worth looking for it as a whole. */
  isWhole: boolean;
};

const apiKey = /^hk_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_/i;
const beginningOfKey = /^hk_([0-9a-f-]{4,36})$/i; // as in a report of a leak, which leaves out the secret
const otherSecret = /^(?:hk_|whsec_|eyJ[\w-]+\.)/;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const mostCharacters = 128;

/** Whether the text has the form of the ids that the server makes. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** Reads what was typed. Longer texts than ids are cut to the length of an id. */
export function readTyped(typed: string, isPasted: boolean): Typed {
  const text = typed.replaceAll(/\p{Cc}/gu, " ").trim(); // no id has control characters
  const keyId = apiKey.exec(text)?.[1]?.toLowerCase();
  if (keyId !== undefined) return { text: keyId, isSecret: true, isWhole: true };
  const beginning = beginningOfKey.exec(text)?.[1]?.toLowerCase();
  if (beginning !== undefined) return { text: beginning, isSecret: true, isWhole: false };
  if (otherSecret.test(text)) return { text: "", isSecret: true, isWhole: false };
  const cut = [...text].slice(0, mostCharacters).join("");
  return { text: cut, isSecret: false, isWhole: isPasted || isUuid(cut) };
}
