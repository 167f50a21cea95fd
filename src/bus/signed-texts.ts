import type { z } from "zod";
import type { LogEvent } from "../contract/log/log-event.ts";
import { createSeen } from "../lib/caches/seen.ts";
import { createId } from "../lib/text/ids.ts";
import type { DropReason, Hint, PresenceAnswer, PresenceQuestion } from "./bus.ts";
import { decodeHint, encodeHint, toObject } from "./hint-codec.ts";
import { presenceAnswer, presenceQuestion } from "./presence-codec.ts";
import type { Signer, TextKind } from "./signatures.ts";
import { logSubject, presenceSubject } from "./subjects.ts";

type Dependencies = {
  nodeId: string;
  signer: Signer;
  /** The ids of live nodes whose version does not sign. */
  unsigning(): ReadonlySet<string>;
  onDrop(reason: DropReason, subject: string): void;
};

/** The kinds of texts that have codecs of their own. */
export type FreeKind = Extract<TextKind, "watch" | "news" | "activity" | "typing">;

const mostAsked = 65_536;

/**
 * Creates what writes and reads all texts of one node on the bus. Writing returns `undefined` while there is no secret; reading
 * returns `undefined` for a dropped text, and never throws. Signatures are checked before anything is parsed.
 */
export function createSignedTexts({ nodeId, signer, unsigning, onDrop }: Dependencies) {
  const dropped: Record<DropReason, number> = { unsigned: 0, forged: 0, unreadable: 0, repeated: 0 };
  const asked = createSeen(mostAsked); // so that a replayed question is not answered

  function drop(reason: DropReason, subject: string): undefined {
    dropped[reason]++;
    onDrop(reason, subject);
  }

  /** Decodes a text that is signed, or that has no signature and is accepted by `isBelieved`. */
  function read<Found>(
    kind: TextKind,
    { place, subject, text }: { place: string; subject: string; text: string },
    content: z.ZodType<Found>,
    isBelieved?: (found: Found) => boolean,
  ): Found | undefined {
    const verdict = signer.verify(kind, place, text);
    const mayBeUnsigned = isBelieved !== undefined && unsigning().size > 0;
    if (verdict === "forged" || (verdict === "unsigned" && !mayBeUnsigned)) return drop(verdict, subject);
    const found = content.safeParse(toObject(text)).data;
    if (found === undefined) return drop("unreadable", subject);
    return verdict === "signed" || isBelieved?.(found) === true ? found : drop(verdict, subject);
  }

  return {
    dropped,
    writeHint: (event: LogEvent, maxBytes: number): string | undefined =>
      signer.sign("hint", logSubject(event.org), encodeHint(event, maxBytes)),
    /** An unsigned hint counts as a nudge while there are live nodes that do not sign. */
    readHint(org: string, text: string): Hint | undefined {
      const subject = logSubject(org);
      const verdict = signer.verify("hint", subject, text);
      if (verdict === "unsigned" && unsigning().size > 0) return { org };
      if (verdict !== "signed") return drop(verdict, subject);
      return decodeHint(text, org) ?? drop("unreadable", subject);
    },
    /** Returns the text, and the id that its answers are bound to. */
    writeQuestion(question: PresenceQuestion): { ask: string; text: string } | undefined {
      const ask = createId();
      const text = signer.sign("question", presenceSubject, JSON.stringify({ ask, ...question }));
      return text === undefined ? undefined : { ask, text };
    },
    readQuestion(text: string): z.output<typeof presenceQuestion> | undefined {
      const of = { place: presenceSubject, subject: presenceSubject, text };
      const question = read("question", of, presenceQuestion, ({ ask }) => ask === undefined);
      if (question?.ask === undefined || asked.isNew(question.ask)) return question;
      return drop("repeated", presenceSubject);
    },
    writeAnswer: (ask = "", answer: PresenceAnswer): string | undefined =>
      signer.sign("answer", ask, JSON.stringify({ node: nodeId, answer })),
    readAnswer(ask: string, text: string): z.output<typeof presenceAnswer> | undefined {
      const of = { place: ask, subject: `the answers on ${presenceSubject}`, text };
      return read("answer", of, presenceAnswer, ({ node }) => unsigning().has(node));
    },
    /** Signs a text of a kind that has a codec of its own. */
    write: (kind: FreeKind, subject: string, content: object): string | undefined =>
      signer.sign(kind, subject, JSON.stringify(content)),
    /** Reads such a text if it is signed for this subject. */
    read: <Found>(kind: FreeKind, subject: string, text: string, content: z.ZodType<Found>): Found | undefined =>
      read(kind, { place: subject, subject, text }, content),
  };
}

/** The texts that one node writes and reads. */
export type SignedTexts = ReturnType<typeof createSignedTexts>;
