import { createRandom } from "../../test/harness/random.ts";

/** A text, as the pieces that a model says it in. */
export type Answer = { text: string; pieces: readonly string[]; bytes: number };

/** Letters of one to four bytes in UTF-8; 1.7 on average, so that 100 kB are fewer characters than a message may have. */
const letters = [..."etaoin shrdluéöß漢字かな👋"];

/** An answer of exactly so many bytes in so many pieces, the same one for the same numbers. */
export function answerOf(count: number, bytes: number): Answer {
  const random = createRandom(count);
  const pieces: string[] = [];
  let written = 0;
  for (let index = 1; index <= count; index++) {
    const end = Math.round((bytes * index) / count);
    let piece = "";
    while (written < end) {
      const letter = random.pick(letters);
      const width = Buffer.byteLength(letter);
      const fits = written + width <= end;
      piece += fits ? letter : ".";
      written += fits ? width : 1;
    }
    pieces.push(piece);
  }
  return { text: pieces.join(""), pieces, bytes };
}
