import { z } from "zod";
import { type HeraldError, unavailable } from "../contract/errors/errors.ts";
import { createGuard } from "../lib/observing/guard.ts";
import type { DropReason, NodesBus, PresenceAnswer, PresenceQuestion } from "./bus.ts";
import type { Signer } from "./signatures.ts";
import { createSignedTexts, type FreeKind } from "./signed-texts.ts";
import { activitySubject, logSubject, presenceSubject, typingSubject } from "./subjects.ts";
import type { Transport } from "./transport.ts";
import { typingNote } from "./typing-codec.ts";
import { createWatches } from "./watches.ts";

const tellOfDropsEveryMs = 60_000;
const anything = z.unknown();

/** What a node needs to speak with others, whatever carries its texts. */
export type NodesBusOptions = {
  /** The id of this node, which is in its answers. */
  nodeId: string;
  /** Until it has a secret, nothing is sent and nothing trusted. */
  signer: Signer;
  /** The ids of live nodes whose version does not sign; their unsigned texts are accepted where they can do no harm. */
  unsigning(): ReadonlySet<string>;
  onError(error: unknown): void;
  /** Called for the first dropped text, and then at most once a minute. */
  onDrop(reason: DropReason, subject: string): void;
};

/**
 * Creates the bus between nodes. Of a message larger than half of what the transport takes, only the place is sent. Texts not
 * signed by a node of this database are dropped, counted and reported, with no other effect.
 */
export function createNodesBus(transport: Transport, options: NodesBusOptions): NodesBus {
  const { nodeId, signer, unsigning, onError, onDrop } = options;
  const { listen } = transport;
  let answer: ((question: PresenceQuestion) => PresenceAnswer) | undefined;
  let toldOfDropsAt = Number.NEGATIVE_INFINITY;
  const guard = createGuard(onError);
  const texts = createSignedTexts({ nodeId, signer, unsigning, onDrop: tellOfDrop });
  const watches = createWatches({ nodeId, texts, publish, listen });
  listen(presenceSubject, ({ text, respond }) => {
    if (answer === undefined) return;
    const question = texts.readQuestion(text);
    if (question === undefined) return;
    const answered = texts.writeAnswer(question.ask, answer(question));
    if (answered !== undefined) respond(answered);
  });

  function tellOfDrop(reason: DropReason, subject: string): void {
    if (performance.now() - toldOfDropsAt < tellOfDropsEveryMs) return;
    toldOfDropsAt = performance.now();
    onDrop(reason, subject);
  }

  /** Publishes signed content, if the transport is up. Never fails. */
  function publish(kind: FreeKind, subject: string, content: object): void {
    const text = transport.isUp() ? texts.write(kind, subject, content) : undefined;
    if (text !== undefined) transport.publish(subject, text);
  }

  return {
    publish(events) {
      const maxBytes = transport.maxBytes() / 2;
      if (maxBytes === 0) return;
      for (const event of events)
        guard(() => {
          const hint = texts.writeHint(event, maxBytes);
          if (hint !== undefined) transport.publish(logSubject(event.org), hint);
        });
    },
    async subscribe(org, handler) {
      const end = listen(logSubject(org), ({ text }) => {
        const hint = texts.readHint(org, text);
        if (hint !== undefined) handler(hint);
      });
      await transport.flush();
      return end;
    },
    async request(question, nodes) {
      const asked = transport.isUp() ? texts.writeQuestion(question) : undefined;
      if (asked === undefined) throw busAway();
      const answers = new Map<string, PresenceAnswer>();
      const missing = new Set(nodes);
      try {
        for await (const text of await transport.ask(presenceSubject, asked.text)) {
          const answered = texts.readAnswer(asked.ask, text);
          if (answered === undefined) continue;
          answers.set(answered.node, answered.answer);
          missing.delete(answered.node);
          if (missing.size === 0) break;
        }
      } catch (cause) {
        throw busAway(cause);
      }
      // This node is asked through the bus like any other: if not even it has answered, the bus is away.
      if (!answers.has(nodeId)) throw busAway();
      return answers;
    },
    respond(newAnswer) {
      answer = newAnswer;
    },
    ...watches,
    /** This node hears it as the others do. */
    tellActivity: (user) => publish("activity", activitySubject(user), { node: nodeId }),
    followActivity(user, hearUser) {
      const subject = activitySubject(user);
      return listen(subject, ({ text }) => {
        if (texts.read("activity", subject, text, anything) !== undefined) hearUser();
      });
    },
    tellTyping: ({ org, ...note }) => publish("typing", typingSubject(org), note),
    followTyping(org, hear) {
      const subject = typingSubject(org);
      return listen(subject, ({ text }) => {
        const note = texts.read("typing", subject, text, typingNote);
        if (note !== undefined) hear({ org, ...note });
      });
    },
    dropped: texts.dropped,
    state: () => (transport.isUp() ? "up" : "down"),
    close: transport.close,
  };
}

function busAway(cause?: unknown): HeraldError {
  return unavailable({ detail: "the bus is down, so this node cannot query the other nodes; try again", cause });
}
