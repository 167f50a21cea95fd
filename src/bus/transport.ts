/** A text that has arrived. */
export type Arrival = {
  subject: string;
  text: string;
  /** Answers the node that asked, if it did. Never fails. */
  respond(text: string): void;
};

/** Carries texts between nodes, by subject. It may lose any of them; what it carries keeps its order. */
export type Transport = {
  /** Whether texts reach other nodes now. */
  isUp(): boolean;
  /** The longest text, in bytes; 0 before the first connection and after the last. */
  maxBytes(): number;
  /** Sends a text to all who listen on its subject, this node included. Never fails. */
  publish(subject: string, text: string): void;
  /** Listens from now on; `*` stands for the last part of a subject. Returns the function that ends it. */
  listen(subject: string, handle: (arrival: Arrival) => void): () => void;
  /** Resolves once all that listens so far is heard by other nodes, or after a second. */
  flush(): Promise<void>;
  /** Asks all who listen on the subject. Gives their answers as they arrive, for a second at most; rejects if it cannot ask. */
  ask(subject: string, text: string): Promise<AsyncIterable<string>>;
  close(): Promise<void>;
};

/** The time that `Transport.ask` and `Transport.flush` take at most. */
export const transportWaitsMs = { answer: 1_000, flush: 1_000 };
