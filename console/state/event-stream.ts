/** One event of a stream (WHATWG HTML, section 9.2.6). */
export type StreamEvent = { type: string; id: string; data: string };

/**
 * Reads server-sent events from bytes. `EventSource` cannot send a header, and the key must not stand in an address. Calls
 * `onEvent` for each event, in order; comments, such as heartbeats, are skipped. Resolves when the stream ends.
 */
export async function readEventStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event: StreamEvent = { type: "message", id: "", data: "" };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line === "") {
        if (event.data !== "") onEvent(event);
        event = { type: "message", id: "", data: "" };
        continue;
      }
      const colon = line.indexOf(":");
      const name = colon < 0 ? line : line.slice(0, colon);
      const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "event") event.type = text;
      else if (name === "id") event.id = text;
      else if (name === "data") event.data = event.data === "" ? text : `${event.data}\n${text}`;
    }
  }
}
