import { expect, test } from "bun:test";
import { createElement, Fragment } from "react";
import { renderToString } from "react-dom/server";
import {
  HeraldProvider,
  useConnection,
  useConversation,
  useConversations,
  useInbox,
  useSystemMessages,
} from "../../../sdk/react.ts";

function Everything() {
  useSystemMessages(() => undefined);
  const { state } = useConnection();
  const { messages, isLoaded } = useConversation("c");
  const { conversations } = useConversations();
  const { items, unread } = useInbox();
  const shown = [state, messages.length, isLoaded, conversations.length, items.length, unread];
  return createElement(Fragment, null, shown.join(" "));
}

test("a server renders what is known before anything was read, and connects to nothing", () => {
  const { WebSocket: before } = globalThis;
  Reflect.deleteProperty(globalThis, "WebSocket"); // as in Node 20
  try {
    const app = createElement(HeraldProvider, {
      url: "http://127.0.0.1:1",
      token: () => Promise.reject(new Error("a server asks for no token")),
      children: createElement(Everything),
    });
    expect(renderToString(app)).toBe("stopped 0 false 0 0 0");
  } finally {
    globalThis.WebSocket = before;
  }
});

test("a hook without a provider says what is missing", () => {
  expect(() => renderToString(createElement(Everything))).toThrow("There is no HeraldProvider around this component.");
});
