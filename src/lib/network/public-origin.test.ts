import { expect, test } from "bun:test";
import { createAddressSet } from "./addresses.ts";
import { createPublicOrigin } from "./public-origin.ts";

/** The origin that a request from an address tells. */
const originOf = (headers: Record<string, string>, { from = "203.0.113.9", url = "http://herald/ws" } = {}) =>
  createPublicOrigin(createAddressSet(["10.0.0.0/8"]))(new Request(url, { headers }), {
    requestIP: () => ({ address: from }),
  });

const [proxied, secure] = [{ from: "::ffff:10.1.2.3" }, { url: "https://herald/ws" }];
const host = "chat.example.org:8443";
const forwarded = { Host: "upstream", "X-Forwarded-Host": "a.example.org, b", "X-Forwarded-Proto": "https, http" };

test.each([
  ["the Host of the request", { Host: host }, {}, `http://${host}`],
  ["https if the server ends TLS", { Host: host }, secure, `https://${host}`],
  ["https if a page of https asks", { Host: host, Origin: "https://app.example.org" }, {}, `https://${host}`],
  ["http if a page of http asks", { Host: host, Origin: "http://app.example.org" }, {}, `http://${host}`],
  ["what a trusted proxy forwards", forwarded, proxied, "https://a.example.org"],
  ["nothing that others forward", forwarded, {}, "http://upstream"],
  ["the Host that a trusted proxy keeps", { Host: host, "X-Forwarded-Proto": "wss" }, proxied, `https://${host}`],
  ["http of a trusted proxy, also behind TLS", { Host: host, "X-Forwarded-Proto": "http" }, proxied, `http://${host}`],
  ["an IPv6 address", { Host: "[2001:db8::1]:80" }, {}, "http://[2001:db8::1]:80"],
])("an address of the server has %s", (_, headers, given, expected) => {
  expect(originOf(headers, given)).toBe(expected);
});

test.each(["a b", "a/b", "a@b", 'a"b', "a:b", "a:123456", "[::1", "%"])("the odd Host %p tells nothing", (odd) => {
  expect(originOf({ Host: odd })).toBeUndefined();
  expect(originOf({ Host: "upstream", "X-Forwarded-Host": odd }, proxied)).toBeUndefined();
});

test("a request without Host tells nothing", () => {
  expect(originOf({})).toBeUndefined();
});
