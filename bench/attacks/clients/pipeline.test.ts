import { describe, expect, test } from "bun:test";
import { createAnswerScanner } from "./pipeline.ts";

const answers =
  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 429 Too Many Requests\r\n\r\n" +
  "HTTP/1.1 201 x\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n2\r\nok\r\n0\r\n\r\n" +
  "HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 101 x\r\n\r\n";

describe("the scanner of responses", () => {
  test("finds each response and its end once, however the bytes are cut", () => {
    for (let size = 1; size <= answers.length; size++) {
      const heard: string[] = [];
      const scan = createAnswerScanner(
        (status) => heard.push(status),
        () => heard.push("end"),
      );
      for (let at = 0; at < answers.length; at += size) scan(Buffer.from(answers.slice(at, at + size)));
      expect(heard).toEqual(["200", "end", "429", "end", "201", "end", "204", "end", "101", "end"]);
    }
  });

  test("does not end a chunked response before its last chunk", () => {
    const heard: string[] = [];
    const scan = createAnswerScanner(
      (status) => heard.push(status),
      () => heard.push("end"),
    );
    scan(Buffer.from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"));
    expect(heard).toEqual(["200"]);
  });
});
