import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { closeCodes } from "../connections/close-codes.ts";
import { errorResponse, type FrameMessage, frameEvents, frameExchanges } from "../connections/frame-messages.ts";
import { asyncApiDocument } from "./asyncapi.ts";

const document = asyncApiDocument();
const catalogue: FrameMessage[] = [
  ...Object.values(frameExchanges).flatMap(({ request, response }) => [request, response]),
  errorResponse,
  ...Object.values(frameEvents),
];
const described = z.looseObject({ title: z.string(), examples: z.array(z.object({ payload: z.unknown() })).length(1) });

describe("the AsyncAPI document", () => {
  test.each(catalogue.map((message) => [message.title, message] as const))(
    "shows %s with an example that fits its schema",
    (title, { schema }) => {
      const messages = Object.values(document.components.messages).map((message) => described.parse(message));
      const example = messages.find((message) => message.title === title)?.examples[0]?.payload;
      expect(example).toBeDefined();
      expect(schema.parse(example)).toEqual(example);
    },
  );

  test("answers each request with its response or an error", () => {
    for (const [operation, { request, response }] of Object.entries(frameExchanges)) {
      const { id } = z.object({ request: z.looseObject({ id: z.string() }) }).parse(request.example).request;
      expect(request.example).toHaveProperty(`request.${operation}`);
      expect(response.example).toHaveProperty("response.id", id);
    }
    expect(
      errorResponse.schema.safeParse({ response: { error: { status: 400, code: "x", message: "y" } } }).success,
    ).toBe(true);
  });

  test("lists every close code, in the text and for machines", () => {
    const { ws } = document.channels;
    expect(ws["x-close-codes"].map(({ code }) => code)).toEqual(
      Object.values(closeCodes)
        .map(({ code }) => code)
        .sort((left, right) => left - right),
    );
    for (const { code, meaning } of Object.values(closeCodes))
      expect(ws.description).toContain(`| ${code} | ${meaning} |`);
  });

  test("names on /sse only what is streamed there", () => {
    expect(Object.keys(document.channels.sse.messages)).toEqual([
      "MessageEvent",
      "SystemMessageEvent",
      "MessageEditEvent",
      "MessageDeleteEvent",
      "SystemMessageDeleteEvent",
      "MessageReadEvent",
      "SystemMessageReadEvent",
      "MessageReactionsUpdateEvent",
      "MessageAppendEvent",
      "SessionEvent",
    ]);
  });

  test("is JSON: nothing in it is lost when it is written", () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });
});
