import { describe, expect, test } from "bun:test";
import {
  createAddressSet,
  isAddressRange,
  isPublicAddress,
  namesPrivateHost,
  networkOf,
  normalizeAddress,
} from "./addresses.ts";

describe("an address", () => {
  test("has one canonical form, in which IPv4-mapped IPv6 is IPv4", () => {
    expect(normalizeAddress("192.0.2.1")).toBe("192.0.2.1");
    expect(normalizeAddress("::ffff:192.0.2.1")).toBe("192.0.2.1");
    expect(normalizeAddress("::FFFF:c000:0201")).toBe("192.0.2.1");
    expect(normalizeAddress("2001:DB8:0:0::1")).toBe("2001:db8::1");
    for (const text of ["", "127.1", "0x7f.0.0.1", "192.0.2.1:80", "[::1]", "unknown", " 192.0.2.1"])
      expect(normalizeAddress(text)).toBeUndefined();
  });

  test("is a source of its own as IPv4, and together with its /64 as IPv6", () => {
    expect(networkOf("192.0.2.1")).toBe("192.0.2.1");
    expect(networkOf("192.0.2.01")).toBe("192.0.2.01"); // not an address
    expect(networkOf("::ffff:192.0.2.1")).toBe("192.0.2.1");
    expect(networkOf("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
    expect(networkOf("2001:DB8:1:2::9")).toBe("2001:db8:1:2::/64");
    expect(networkOf("2001:db8:1:3::9")).toBe("2001:db8:1:3::/64");
    expect(networkOf(networkOf("2001:db8:1:3::9"))).toBe("2001:db8:1:3::/64");
    expect(networkOf("")).toBe("");
  });

  test("is public only if it is not reserved", () => {
    for (const text of ["93.184.215.14", "2606:2800:21f:cb07::1", "::ffff:93.184.215.14"])
      expect({ text, isPublic: isPublicAddress(text) }).toEqual({ text, isPublic: true });
    for (const text of [
      ...[
        "127.0.0.1",
        "127.9.9.9",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
      ],
      ...["224.0.0.1", "255.255.255.255", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1"],
      ...["::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::", "nonsense", ""],
      // What clouds answer with secrets: Azure's wire server, Alibaba's and Oracle's metadata, AWS's and GCP's over IPv6.
      ...["168.63.129.16", "::ffff:168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"],
      // IPv6 outside of 2000::/3, and what is set aside in it: NAT64, 6to4, Teredo, ORCHID, benchmarks, documentation.
      ...[
        "64:ff9b::5db8:d70e",
        "64:ff9b:1::1",
        "2002:5db8:d70e::1",
        "2001::1",
        "2001:10::1",
        "2001:20::1",
        "2001:2::1",
      ],
      ...[
        "2001:db8::1",
        "3fff::1",
        "::5db8:d70e",
        "::ffff:0:5db8:d70e",
        "100::1",
        "5f00::1",
        "4000::1",
        "fec0::1",
        "e000::1",
      ],
      ...["192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "192.88.99.1", "192.0.0.8"],
    ])
      expect({ text, isPublic: isPublicAddress(text) }).toEqual({ text, isPublic: false });
  });
});

describe("the host of a URL", () => {
  test("can be recognized as private by the URL alone, in any spelling", () => {
    const isPrivate = (url: string) => namesPrivateHost(new URL(url));
    for (const url of [
      "http://127.0.0.1/",
      "http://localhost:1/",
      "http://[::1]/",
      "http://10.0.0.1/",
      "http://2130706433/",
    ])
      expect({ url, isPrivate: isPrivate(url) }).toEqual({ url, isPrivate: true });
    for (const url of ["http://93.184.215.14/", "http://id.example.org/", "http://localhost.example.org/"])
      expect({ url, isPrivate: isPrivate(url) }).toEqual({ url, isPrivate: false });
  });
});

describe("a set of addresses", () => {
  test("contains what lies within its ranges, in either spelling, and nothing else", () => {
    const set = createAddressSet(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::ffff:198.51.100.0/120"]);
    for (const text of ["10.255.0.1", "::ffff:10.0.0.1", "192.0.2.7", "2001:db8:ffff::1", "198.51.100.255"])
      expect({ text, isIn: set.has(text) }).toEqual({ text, isIn: true });
    for (const text of ["11.0.0.1", "192.0.2.8", "2001:db9::1", "198.51.101.0", "::a00:1", "nonsense", ""])
      expect({ text, isIn: set.has(text) }).toEqual({ text, isIn: false });
    expect(createAddressSet([]).has("10.0.0.1")).toBe(false);
    expect(createAddressSet(["0.0.0.0/0"]).has("::1")).toBe(false);
  });

  test("accepts only addresses and CIDR", () => {
    for (const text of ["10.0.0.0/8", "::/0", "192.0.2.7", "::1", "192.0.2.7/32"])
      expect(isAddressRange(text)).toBe(true);
    for (const text of ["10.0.0.0/33", "::/129", "10/8", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1", "host", "", "*"]) {
      expect({ text, isRange: isAddressRange(text) }).toEqual({ text, isRange: false });
      expect(() => createAddressSet([text])).toThrow(RangeError);
    }
  });
});
