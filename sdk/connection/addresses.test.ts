import { expect, test } from "bun:test";
import { addressOf } from "./addresses.ts";

test.each([
  ["http://127.0.0.1:7070", "ws://127.0.0.1:7070/ws", "http://127.0.0.1:7070/sse"],
  ["https://example.org/", "wss://example.org/ws", "https://example.org/sse"],
  ["https://example.org/herald/", "wss://example.org/herald/ws", "https://example.org/herald/sse"],
  ["ws://[::1]:7070/ws", "ws://[::1]:7070/ws", "http://[::1]:7070/sse"],
  ["wss://example.org/herald/ws/", "wss://example.org/herald/ws", "https://example.org/herald/sse"],
])("%s is reached at %s and %s", (given, webSocket, stream) => {
  expect(addressOf(given)).toEqual({ webSocket, stream, root: stream.replace("/sse", "") });
});

test.each(["http://host/?token=t", "http://user:secret@host/", "http://host/#t", "ftp://host/", "nonsense"])(
  "%s is refused",
  (url) => {
    expect(() => addressOf(url)).toThrow(TypeError);
  },
);
