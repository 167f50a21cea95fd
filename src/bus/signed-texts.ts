import type { LogEvent } from "../contract/log/log-event.ts";
import { createSeen } from "../lib/caches/seen.ts";
import { createId } from "../lib/text/ids.ts";
import type { DropReason, Hint, PresenceAnswer, PresenceQuestion } from "./bus.ts";
import { decodeHint, encodeHint, toObject } from "./hint-codec.ts";
import { type AskedQuestion, decodeAnswer, decodeQuestion, type NodeAnswer } from "./presence-codec.ts";
import type { Signer, TextKind } from "./signatures.ts";
import { logSubject, presenceSubject } from "./subjects.ts";

/**
 * Writes and reads all texts on the bus. Writing returns `undefined` while there is no secret; reading returns
 * `undefined` for a dropped text, and never throws. Signatures are checked before anything is parsed.
 */
export type SignedTexts = {
  writeHint(event: LogEvent, maxBytes: number): string | undefined;
  /** An unsigned hint counts as a nudge while there are live nodes that do not sign. */
  readHint(org: string, text: string): Hint | undefined;
  /** Returns the text, and the id that its answers are bound to. */
  writeQuestion(question: PresenceQuestion): { ask: string; text: string } | undefined;
  readQuestion(text: string): AskedQuestion | undefined;
  writeAnswer(ask: string | undefined, answer: PresenceAnswer): string | undefined;
  readAnswer(ask: string, text: string): NodeAnswer | undefined;
  /** Signs a text about a watched event, or about a user. */
  write(kind: FreeKind, subject: string, content: object): string | undefined;
  /** Reads such a text if it is signed for this subject. */
  read<Found>(
    kind: FreeKind,
    subject: string,
    text: string,
    decode: (value: unknown) => Found | undefined,
  ): Found | undefined;
  readonly dropped: Readonly<Record<DropReason, number>>;
};

type Dependencies = {
  nodeId: string;
  signer: Signer;
  /** The ids of live nodes whose version does not sign. */
  unsigning(): ReadonlySet<string>;
  onDrop(reason: DropReason, subject: string): void;
};

/** The kinds of texts that have codecs of their own. */
type FreeKind = Extract<TextKind, "watch" | "news" | "activity">;

const mostAsked = 65_536;

/** Creates the signed texts of one node. */
export function createSignedTexts({ nodeId, signer, unsigning, onDrop }: Dependencies): SignedTexts {
  const dropped = { unsigned: 0, forged: 0, unreadable: 0, repeated: 0 };
  const asked = createSeen(mostAsked); // so that a replayed question is not answered

  function drop(reason: DropReason, subject: string): undefined {
    dropped[reason]++;
    onDrop(reason, subject);
  }

  /** Decodes a text that is signed, or that has no signature and is accepted by `isBelieved`. */
  function read<Found>(
    kind: TextKind,
    { place, subject, text }: { place: string; subject: string; text: string },
    decode: (text: string) => Found | undefined,
    isBelieved: (found: Found) => boolean,
  ): Found | undefined {
    const verdict = signer.verify(kind, place, text);
    if (verdict === "forged" || (verdict === "unsigned" && unsigning().size === 0)) return drop(verdict, subject);
    const found = decode(text);
    if (found === undefined) return drop("unreadable", subject);
    return verdict === "signed" || isBelieved(found) ? found : drop(verdict, subject);
  }

  return {
    dropped,
    writeHint: (event, maxBytes) => signer.sign("hint", logSubject(event.org), encodeHint(event, maxBytes)),
    readHint(org, text) {
      const subject = logSubject(org);
      const verdict = signer.verify("hint", subject, text);
      if (verdict === "unsigned" && unsigning().size > 0) return { org };
      if (verdict !== "signed") return drop(verdict, subject);
      return decodeHint(text, org) ?? drop("unreadable", subject);
    },
    writeQuestion(question) {
      const ask = createId();
      const text = signer.sign("question", presenceSubject, JSON.stringify({ ask, ...question }));
      return text === undefined ? undefined : { ask, text };
    },
    readQuestion(text) {
      const of = { place: presenceSubject, subject: presenceSubject, text };
      const question = read("question", of, decodeQuestion, ({ ask }) => ask === undefined);
      if (question?.ask === undefined || asked.isNew(question.ask)) return question;
      return drop("repeated", presenceSubject);
    },
    writeAnswer: (ask = "", answer) => signer.sign("answer", ask, JSON.stringify({ node: nodeId, answer })),
    readAnswer(ask, text) {
      const of = { place: ask, subject: `the answers on ${presenceSubject}`, text };
      return read("answer", of, decodeAnswer, ({ node }) => unsigning().has(node));
    },
    write: (kind, subject, content) => signer.sign(kind, subject, JSON.stringify(content)),
    read(kind, subject, text, decode) {
      const verdict = signer.verify(kind, subject, text);
      if (verdict !== "signed") return drop(verdict, subject);
      return decode(toObject(text)) ?? drop("unreadable", subject);
    },
  };
}
