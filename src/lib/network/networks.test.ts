import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createAddressSet } from "./addresses.ts";
import { isNetwork, isWithin } from "./networks.ts";

const ipv4 = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const toNumber = (parts: number[]) => parts.reduce((sum, part) => sum * 256 + part, 0);
const toText = (address: number) => [24, 16, 8, 0].map((bits) => Math.floor(address / 2 ** bits) % 256).join(".");
const lowest = (address: number, prefix: number) => address - (address % 2 ** (32 - prefix));

describe("a network", () => {
  test.each(["10.0.0.0/8", "0.0.0.0/0", "192.0.2.7/32", "::/0", "2001:db8::/32", "2001:DB8:0:0::/64", "::1/128"])(
    "may be written %s",
    (text) => expect(isNetwork(text)).toBe(true),
  );

  test.each([
    "",
    "10.0.0.1",
    "10.0.0.1/8",
    "10/8",
    "010.0.0.0/8",
    "0x0a.0.0.0/8",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/08",
    " 10.0.0.0/8",
    "10.0.0.0/8 ",
    "2001:db8::1/32",
    "::/129",
    "fe80::%eth0/64",
    "::ffff:10.0.0.0/104",
    "localhost/32",
  ])("may not be written %p", (text) => expect(isNetwork(text)).toBe(false));

  test("contains the addresses that share its prefix, and no others", () => {
    fc.assert(
      fc.property(ipv4, ipv4, fc.integer({ min: 0, max: 32 }), (networkParts, addressParts, prefix) => {
        const [network, address] = [toNumber(networkParts), toNumber(addressParts)];
        const text = `${toText(lowest(network, prefix))}/${prefix}`;
        expect(isNetwork(text)).toBe(true);
        const isInside = lowest(network, prefix) === lowest(address, prefix);
        expect(createAddressSet([text]).has(toText(address))).toBe(isInside);
        expect(createAddressSet([text]).has(`::ffff:${toText(address)}`)).toBe(isInside);
        expect(createAddressSet(["::/0"]).has(toText(address))).toBe(false);
      }),
    );
  });

  test("of IPv6 contains its addresses in any spelling", () => {
    const { has } = createAddressSet(["10.0.0.0/8", "2001:db8::/32"]);
    for (const address of ["2001:db8::1", "2001:0DB8:0:0::FFFF", "10.255.0.1"]) expect(has(address)).toBe(true);
    for (const address of ["2001:db9::1", "11.0.0.1", "", "nonsense", "::"]) expect(has(address)).toBe(false);
  });

  test("lies within another if that one contains all of it", () => {
    expect(isWithin("10.1.0.0/16", ["192.0.2.0/24", "10.0.0.0/8"])).toBe(true);
    expect(isWithin("10.0.0.0/8", ["10.0.0.0/8"])).toBe(true);
    expect(isWithin("10.0.0.0/7", ["10.0.0.0/8"])).toBe(false);
    expect(isWithin("11.0.0.0/8", ["10.0.0.0/8"])).toBe(false);
    expect(isWithin("2001:db8:1::/48", ["2001:db8::/32"])).toBe(true);
    expect(isWithin("0.0.0.0/0", ["::/0"])).toBe(false);
  });
});
