/** One event of a stream: its name, the text of its `data` and, if it has one, its `id`. Without `data`, it only has an `id`. */
export type StreamEvent = { event: string; data: string | undefined; id?: string };

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6) incrementally. `read` takes the next piece of text and returns the events
 * that it completes. It keeps an incomplete event for the next call. Lines end with CR, LF or CRLF, and nowhere else.
 */
export function createEventReader(): { read(text: string): StreamEvent[] } {
  let rest = "";
  let isAfterReturn = false;
  let name = "";
  let data: string[] = [];
  let id: string | undefined;

  function takeLine(line: string): StreamEvent | undefined {
    if (line === "") {
      const text = data.length === 0 ? undefined : data.join("\n");
      const event = { event: name || "message", data: text, ...(id !== undefined && { id }) };
      const isEmpty = text === undefined && id === undefined;
      name = "";
      data = [];
      id = undefined;
      return isEmpty ? undefined : event;
    }
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "event") name = value;
    if (field === "data") data.push(value);
    if (field === "id") id = value;
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
