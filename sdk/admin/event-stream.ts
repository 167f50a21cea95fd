/** One event of a stream: its name, and the text of its `data`. */
export type StreamEvent = { event: string; data: string };

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6) piece by piece. `read` takes the next piece of text, and gives the
 * events that it completes; what is not yet complete is kept for the next.
 */
export function createEventReader(): { read(text: string): StreamEvent[] } {
  let rest = "";
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
    return undefined; // a comment, or a field that nobody here needs
  }

  return {
    read(text) {
      // A large event comes in many pieces: only one that may hold the end of a line is looked through.
      if (!/[\r\n]/.test(text) && !rest.endsWith("\r")) {
        rest += text;
        return [];
      }
      const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      return lines.map(takeLine).filter((event) => event !== undefined);
    },
  };
}
