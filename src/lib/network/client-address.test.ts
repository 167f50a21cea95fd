import { describe, expect, test } from "bun:test";
import { rawHttp } from "../../../test/harness/clients/raw-http.ts";
import { createAddressSet } from "./addresses.ts";
import { createClientAddress } from "./client-address.ts";

const clientAddress = createClientAddress(createAddressSet(["10.0.0.0/8", "2001:db8::/32"]));

/** The client address determined from `peer` and this `X-Forwarded-For`. */
const seen = (peer: string, forwardedFor?: string) =>
  clientAddress(
    new Request("http://herald/", forwardedFor === undefined ? {} : { headers: { "X-Forwarded-For": forwardedFor } }),
    { requestIP: () => ({ address: peer }) },
  );

describe("the address of a client", () => {
  test("is that of the connection, whatever the header says, unless the peer is a trusted proxy", () => {
    expect(seen("192.0.2.1")).toBe("192.0.2.1");
    expect(seen("192.0.2.1", "198.51.100.1")).toBe("192.0.2.1");
    expect(seen("::ffff:192.0.2.1", "198.51.100.1")).toBe("192.0.2.1");
    expect(seen("10.0.0.1")).toBe("10.0.0.1");
  });

  test("behind trusted proxies is the last untrusted one: what a client wrote itself stands to its left", () => {
    expect(seen("10.0.0.1", "198.51.100.1")).toBe("198.51.100.1");
    expect(seen("::ffff:10.0.0.1", "::ffff:198.51.100.1")).toBe("198.51.100.1");
    expect(seen("10.0.0.1", "127.0.0.1, 203.0.113.9, 198.51.100.1, 10.2.3.4")).toBe("198.51.100.1");
    expect(seen("2001:db8::1", "2001:4860::8, 10.0.0.2")).toBe("2001:4860::8");
    expect(seen("10.0.0.1", "10.0.0.3,10.0.0.2")).toBe("10.0.0.3");
  });

  test("is read from all lines of the header together: a proxy may add one below the client's", async () => {
    const believing = createClientAddress(createAddressSet(["127.0.0.1"]));
    await using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, running) => new Response(believing(request, running)),
    });
    const lines = ["X-Forwarded-For: 203.0.113.9", "X-Other: x", "x-forwarded-for: 198.51.100.1"];
    const answer = await rawHttp(server.url.href, [`GET / HTTP/1.1\r\nHost: x\r\n${lines.join("\r\n")}\r\n\r\n`]);
    expect(answer.body).toBe("198.51.100.1");
  });

  test("may include a port", () => {
    expect(seen("10.0.0.1", "198.51.100.1:4711")).toBe("198.51.100.1");
    expect(seen("10.0.0.1", "[2001:4860::8]:4711")).toBe("2001:4860::8");
    expect(seen("10.0.0.1", "[2001:4860::8]")).toBe("2001:4860::8");
  });

  test("is that of the last proxy if the entry before it is not an address", () => {
    for (const header of [
      "",
      " ",
      "unknown",
      "198.51.100.1, unknown",
      "198.51.100.1,",
      "0x7f.1",
      "198.51.100.1:port",
      "<script>",
    ])
      expect({ header, address: seen("10.0.0.1", header) }).toEqual({ header, address: "10.0.0.1" });
    expect(seen("10.0.0.1", "198.51.100.1, unknown, 10.0.0.2")).toBe("10.0.0.2");
  });

  test("is reported once if an untrusted peer says for whom it forwards, in either header", () => {
    for (const header of ["X-Forwarded-For", "Forwarded"]) {
      const told: string[] = [];
      const telling = createClientAddress(createAddressSet(["10.0.0.0/8"]), (address) => void told.push(address));
      const request = new Request("http://herald/", { headers: { [header]: "198.51.100.1" } });
      telling(request, { requestIP: () => ({ address: "10.0.0.1" }) });
      telling(new Request("http://herald/"), { requestIP: () => ({ address: "192.0.2.7" }) });
      expect(told).toEqual([]);
      for (const address of ["192.0.2.7", "192.0.2.7", "192.0.2.8"])
        telling(request, { requestIP: () => ({ address }) });
      expect(told).toEqual(["192.0.2.7"]);
    }
  });

  test("is empty if the connection is gone", () => {
    expect(clientAddress(new Request("http://herald/"), { requestIP: () => null })).toBe("");
  });
});
