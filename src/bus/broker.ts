import { createSetsByKey } from "../lib/sets-by-key.ts";
import { forEachListened } from "./subjects.ts";

/** What a node tells the broker. `texts` are pairs of a subject and a text, one after the other. */
export type ToBroker =
  | { bus: "listen" | "unlisten"; subject: string }
  | { bus: "flush"; id: number }
  | { bus: "publish"; texts: string[] }
  | { bus: "ask"; id: number; subject: string; text: string }
  | { bus: "answer"; to: number; id: number; text: string }
  | { bus: "taken"; characters: number };

/** What the broker tells a node. `lost`: texts were dropped, since the node did not take them in time. */
export type FromBroker =
  | { bus: "texts"; texts: string[] }
  | { bus: "flushed"; id: number }
  | { bus: "asked"; from: number; id: number; subject: string; text: string }
  | { bus: "answered"; id: number; text: string }
  | { bus: "lost" };

const mostAhead = 16 * 1024 * 1024; // in characters, which take two bytes of memory at most

type Peer = { number: number; send(message: FromBroker): void; ahead: number; hasLost: boolean; subjects: Set<string> };

/** Calls `each` with every subject and its text. */
export function forEachText(texts: readonly string[], each: (subject: string, text: string) => void): void {
  for (let at = 0; at < texts.length; at += 2) each(texts[at] ?? "", texts[at + 1] ?? "");
}

/**
 * Creates the broker of nodes that are processes of one machine: a text goes to all other nodes that listen on its subject. For a
 * node that does not take its texts, a bounded number waits, and later ones are dropped.
 */
export function createBroker() {
  const listening = createSetsByKey<string, Peer>();
  const peers = new Map<number, Peer>();
  let lastNumber = 0;

  function othersOn(subject: string, sender: Peer): Set<Peer> {
    const found = new Set<Peer>();
    forEachListened(subject, listening, (peer) => {
      if (peer !== sender) found.add(peer);
    });
    return found;
  }

  function publish(sender: Peer, texts: readonly string[]): void {
    const batches = new Map<Peer, string[]>();
    forEachText(texts, (subject, text) => {
      for (const peer of othersOn(subject, sender)) {
        if (peer.ahead > mostAhead) {
          peer.hasLost = true;
          continue;
        }
        peer.ahead += text.length;
        const batch = batches.get(peer) ?? [];
        batches.set(peer, batch);
        batch.push(subject, text);
      }
    });
    for (const [peer, batch] of batches) peer.send({ bus: "texts", texts: batch });
  }

  function take(peer: Peer, characters: number): void {
    peer.ahead -= characters;
    if (!peer.hasLost || peer.ahead > mostAhead / 2) return;
    peer.hasLost = false;
    peer.send({ bus: "lost" });
  }

  function hear(peer: Peer, message: ToBroker): void {
    switch (message.bus) {
      case "listen":
        peer.subjects.add(message.subject);
        listening.add(message.subject, peer);
        break;
      case "unlisten":
        peer.subjects.delete(message.subject);
        listening.remove(message.subject, peer);
        break;
      case "flush":
        peer.send({ bus: "flushed", id: message.id });
        break;
      case "publish":
        publish(peer, message.texts);
        break;
      case "ask": {
        const { id, subject, text } = message;
        for (const other of othersOn(subject, peer)) other.send({ bus: "asked", from: peer.number, id, subject, text });
        break;
      }
      case "answer":
        peers.get(message.to)?.send({ bus: "answered", id: message.id, text: message.text });
        break;
      case "taken":
        take(peer, message.characters);
    }
  }

  return {
    /** Adds a node, which hears through `send`. `hear` takes what it tells; `end` forgets it. */
    connect(send: Peer["send"]) {
      const peer: Peer = { number: ++lastNumber, send, ahead: 0, hasLost: false, subjects: new Set() };
      peers.set(peer.number, peer);
      return {
        hear: (message: ToBroker) => hear(peer, message),
        end(): void {
          peers.delete(peer.number);
          for (const subject of peer.subjects) listening.remove(subject, peer);
        },
      };
    },
  };
}
