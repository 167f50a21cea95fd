import type { WebSocketConstructor } from "../../sdk/connection/websocket.ts";
import { type Client, createClient } from "../../sdk/index.ts";
import type { MessageAppend } from "../../sdk/types.ts";
import type { ShownMessage } from "../../sdk/views/views.ts";
import { tokenOf } from "../harness/clients/idle-clients.ts";

/** What a client was sent. Bytes are those of the WebSocket's frames, and with `text`, of the answer's text inside them. */
export type Tally = {
  pieces: number;
  pieceBytes: number;
  pieceTextBytes: number;
  messageBytes: number;
  messageTextBytes: number;
  /** Answers to its requests, among them lists of messages and of conversations. */
  answerBytes: number;
  editBytes: number;
  connects: number;
};

/** The SDK's client of one user, which shows a conversation. */
export type Reader = {
  readonly client: Client;
  readonly tally: Tally;
  /** Whether it is connected, and has read the conversation that it shows. */
  isReady(): boolean;
  /** The last message of the conversation as an app shows it. */
  shown(): ShownMessage | undefined;
  /** Says how it is, for who looks for what is wrong. */
  describe(): string;
};

type Options = {
  /** The addresses of the nodes, in the order in which it tries them. */
  urls: string[];
  org: string;
  uid: string;
  /** The conversation that it shows; without it, it only counts and tells of pieces. */
  cid?: string | undefined;
  onPiece?: (piece: MessageAppend) => void;
  onEdit?: () => void;
};

/** The bytes of a server's frame (RFC 6455, section 5.2). */
function frameBytesOf(text: string): number {
  const bytes = Buffer.byteLength(text);
  return bytes + (bytes < 126 ? 2 : bytes < 65_536 ? 4 : 10);
}

/** Creates a client that counts what it is sent. It connects with `client.start()`. */
export function createReader({ urls, org, uid, cid, onPiece, onEdit }: Options): Reader {
  const tally: Tally = {
    pieces: 0,
    pieceBytes: 0,
    pieceTextBytes: 0,
    messageBytes: 0,
    messageTextBytes: 0,
    answerBytes: 0,
    editBytes: 0,
    connects: 0,
  };

  function count(text: string): void {
    const bytes = frameBytesOf(text);
    if (text.startsWith('{"message_append"')) tally.pieceBytes += bytes;
    else if (text.startsWith('{"message"')) tally.messageBytes += bytes;
    else if (text.startsWith('{"message_edit"')) tally.editBytes += bytes;
    else tally.answerBytes += bytes;
  }

  const CountingSocket: WebSocketConstructor = class extends WebSocket {
    constructor(url: string) {
      super(url);
      this.addEventListener("message", ({ data }) => count(String(data)));
    }
  };

  const client = createClient({
    url: urls,
    token: () => tokenOf(org, uid),
    WebSocket: CountingSocket,
    fallback: false,
    onMessage: ({ body }) => {
      tally.messageTextBytes += Buffer.byteLength(body);
    },
    onMessageAppend(piece) {
      tally.pieces++;
      tally.pieceTextBytes += Buffer.byteLength(piece.text);
      onPiece?.(piece);
    },
    ...(onEdit && { onMessageEdit: onEdit }),
    onStateChange(state) {
      if (state === "connected") tally.connects++;
    },
    onError: () => undefined, // requests fail when a node is killed; what is missing in the end shows
  });
  const view = cid === undefined ? undefined : client.conversation(cid);
  view?.subscribe(() => undefined);
  return {
    client,
    tally,
    isReady: () => client.state === "connected" && view?.getSnapshot().isLoaded !== false,
    shown: () => view?.getSnapshot().messages.at(-1),
    describe() {
      const { messages = [], isLoaded, error } = view?.getSnapshot() ?? {};
      const last = messages.at(-1);
      const told = { isLoaded, length: last?.body.length, isOpen: last?.isOpen, connects: tally.connects };
      return `${client.state} ${JSON.stringify(told)} ${error ?? ""}`;
    },
  };
}

/** Resolves once all of the clients are connected. */
export async function untilReady(readers: readonly Reader[]): Promise<void> {
  while (!readers.every((reader) => reader.isReady())) await Bun.sleep(10);
}
