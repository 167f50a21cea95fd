import { expect, test } from "bun:test";
import { webSocketUrl } from "./websocket.ts";

test.each([
  ["http://127.0.0.1:7070", "ws://127.0.0.1:7070/ws"],
  ["https://example.org/", "wss://example.org/ws"],
  ["https://example.org/herald/", "wss://example.org/herald/ws"],
  ["ws://[::1]:7070/ws", "ws://[::1]:7070/ws"],
])("%s is reached at %s", (given, expected) => {
  expect(webSocketUrl(given)).toBe(expected);
});

test.each(["http://host/?token=t", "http://user:secret@host/", "http://host/#t", "ftp://host/", "nonsense"])(
  "%s is refused",
  (url) => {
    expect(() => webSocketUrl(url)).toThrow(TypeError);
  },
);
