import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** A set of IP addresses. */
export type AddressSet = { has(address: string): boolean };

/** An address in its one spelling, an IPv4 address within IPv6 (`::ffff:…`) as IPv4; `undefined` for what is none. */
export function normalizeAddress(text: string): string | undefined {
  // `isIP` first: ipaddr.js also takes what inet_aton did, such as `127.1` and octal numbers.
  return isIP(text) === 0 ? undefined : ipaddr.process(text).toString();
}

/** Whether text is an address, or a range such as `10.0.0.0/8` (CIDR, RFC 4632). */
export function isAddressRange(text: string): boolean {
  const [address = "", length, ...rest] = text.split("/");
  const bits = isIP(address) === 4 ? 32 : 128;
  return (
    isIP(address) !== 0 &&
    rest.length === 0 &&
    (length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits))
  );
}

/** The addresses within ranges; a range for which `isAddressRange` is false throws. */
export function createAddressSet(ranges: readonly string[]): AddressSet {
  const parsed = ranges.map((range): [ipaddr.IPv4 | ipaddr.IPv6, number] => {
    if (!isAddressRange(range)) throw new RangeError(`${range} is no address and no range of addresses`);
    const [text = "", length] = range.split("/");
    const written = ipaddr.parse(text);
    const address = ipaddr.process(text);
    const bits = address.toByteArray().length * 8;
    // The prefix of a range within `::ffff:0:0/96` counts the 96 bits that `process` takes off.
    const mapped = written.toByteArray().length * 8 - bits;
    return [address, length === undefined ? bits : Math.max(0, Number(length) - mapped)];
  });
  return {
    has(text) {
      if (isIP(text) === 0) return false;
      const address = ipaddr.process(text);
      return parsed.some(([range, bits]) => address.kind() === range.kind() && address.match(range, bits));
    },
  };
}

/**
 * What counts as one source where callers are limited: an IPv4 address, or the /64 of an IPv6 address, which is what one
 * subscriber is given (RFC 6177). Anything else is left as it is.
 */
export function networkOf(address: string): string {
  if (isIP(address) === 0) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
}

/** Whether an address is one of the public internet: not private, loopback, link-local, or reserved for anything else. */
export function isPublicAddress(text: string): boolean {
  return isIP(text) !== 0 && ipaddr.process(text).range() === "unicast";
}

/** Whether an address is one by which a machine talks to itself. */
export function isLoopbackAddress(text: string): boolean {
  return isIP(text) !== 0 && ipaddr.process(text).range() === "loopback";
}

/** Whether a server that listens on this host is reached from its own machine alone. */
export function isLoopbackHost(host: string): boolean {
  return isLoopbackAddress(host) || host === "localhost" || host.endsWith(".localhost");
}

/** Whether a URL itself says that its host is not of the public internet: `localhost`, or a literal private address. */
export function namesPrivateHost({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return host === "localhost" || host.endsWith(".localhost") || (isIP(host) !== 0 && !isPublicAddress(host));
}
