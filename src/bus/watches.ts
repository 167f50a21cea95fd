import { createSeen } from "../lib/caches/seen.ts";
import { createId } from "../lib/text/ids.ts";
import type { DeliveryNews, WatchBus, Watcher, WatchQuestion } from "./bus.ts";
import type { SignedTexts } from "./signed-texts.ts";
import { newsSubject, watchSubject } from "./subjects.ts";
import type { Transport } from "./transport.ts";
import { newsPart, partsOf, watchQuestion } from "./watch-codec.ts";

type Dependencies = {
  nodeId: string;
  texts: Pick<SignedTexts, "read">;
  /** Publishes signed content, if the transport is up. Never fails. */
  publish(kind: "watch" | "news", subject: string, content: object): void;
} & Pick<Transport, "listen">;

const mostBegun = 65_536;

type Asked = { hear(node: string, news: DeliveryNews): void; parts: Map<string, number> };

/**
 * Creates the watches of a node. This node is asked directly, the others with one message; their news comes over one
 * subscription, and whatever is lost of it ends the news of that node.
 */
export function createWatches({ nodeId, texts, publish, listen }: Dependencies): WatchBus {
  const asked = new Map<string, Asked>();
  const begun = createSeen(mostBegun); // so that a replayed question begins no watch
  let watcher: Watcher | undefined;

  /** Begins to watch for another node, or ends. */
  function onQuestion(text: string): void {
    const question = texts.read("watch", watchSubject, text, watchQuestion);
    if (question === undefined || question.from === nodeId) return;
    const { ask, from, watch } = question;
    if (watch === null) {
      watcher?.end(ask);
      return;
    }
    if (!begun.isNew(ask)) return;
    let parts = 0;
    watcher?.begin(ask, watch, (news) => {
      for (const part of partsOf(news))
        publish("news", newsSubject(from, ask), { node: nodeId, part: parts++, news: part });
    });
  }

  function onNews(subject: string, text: string): void {
    const ask = subject.slice(newsSubject(nodeId, "").length);
    const known = asked.get(ask);
    if (known === undefined) return; // no longer waited for
    const told = texts.read("news", subject, text, newsPart);
    if (told === undefined || told.part !== (known.parts.get(told.node) ?? 0)) return; // repeated, or after a loss
    known.parts.set(told.node, told.part + 1);
    known.hear(told.node, told.news);
  }

  listen(watchSubject, ({ text }) => onQuestion(text));
  listen(newsSubject(nodeId, "*"), ({ subject, text }) => onNews(subject, text));

  return {
    watch(question: WatchQuestion, hear) {
      const ask = createId();
      asked.set(ask, { hear, parts: new Map() });
      publish("watch", watchSubject, { ask, from: nodeId, watch: question });
      watcher?.begin(ask, question, (news) => hear(nodeId, news));
      return () => {
        if (!asked.delete(ask)) return;
        watcher?.end(ask);
        publish("watch", watchSubject, { ask, from: nodeId, watch: null });
      };
    },
    watchWith(newWatcher) {
      watcher = newWatcher;
    },
  };
}
