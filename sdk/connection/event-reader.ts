/** One event of a stream: its name and the text of its `data`. */
export type StreamEvent = { event: string; data: string };

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6) incrementally. `read` takes the next piece of text and returns the events
 * that it completes. It keeps an incomplete event for the next call. Lines end with CR, LF or CRLF, and nowhere else.
 */
export function createEventReader(): { read(text: string): StreamEvent[] } {
  let rest = "";
  let isAfterReturn = false;
  let name = "";
  let data: string[] = [];

  function takeLine(line: string): StreamEvent | undefined {
    if (line === "") {
      const event = data.length === 0 ? undefined : { event: name || "message", data: data.join("\n") };
      name = "";
      data = [];
      return event;
    }
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "event") name = value;
    if (field === "data") data.push(value);
    return undefined; // a comment, or a field that is not used here
  }

  return {
    read(text) {
      // A carriage return ends its line at once, so a line feed at the beginning of the next piece belongs to it.
      const piece = isAfterReturn && text.startsWith("\n") ? text.slice(1) : text;
      if (text !== "") isAfterReturn = text.endsWith("\r");
      // A large event arrives in many pieces. Parse only those that contain the end of a line.
      if (!/[\r\n]/.test(piece)) {
        rest += piece;
        return [];
      }
      const lines = (rest + piece).split(/\r\n|\r|\n/);
      rest = lines.pop() ?? "";
      return lines.map(takeLine).filter((event) => event !== undefined);
    },
  };
}
