import { describe, expect, test } from "bun:test";
import { createStatusScanner } from "./pipeline.ts";

const answers =
  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 429 Too Many Requests\r\n\r\nHTTP/1.1 101 x\r\n\r\n";

describe("the scanner of status lines", () => {
  test("finds each status once, however the bytes are cut", () => {
    for (let size = 1; size <= answers.length; size++) {
      const heard: string[] = [];
      const scan = createStatusScanner((status) => heard.push(status));
      for (let at = 0; at < answers.length; at += size) scan(Buffer.from(answers.slice(at, at + size)));
      expect(heard).toEqual(["200", "429", "101"]);
    }
  });
});
