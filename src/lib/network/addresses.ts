import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** A set of IP addresses. */
export type AddressSet = { has(address: string): boolean };

/**
 * The canonical form of an address, with IPv4-mapped IPv6 (`::ffff:…`) as IPv4; `undefined` if the text is not an
 * address.
 */
export function normalizeAddress(text: string): string | undefined {
  // Calls `isIP` first: ipaddr.js also accepts what inet_aton did, such as `127.1` and octal numbers.
  return isIP(text) === 0 ? undefined : ipaddr.process(text).toString();
}

/** Whether text is an address or a range such as `10.0.0.0/8` (CIDR, RFC 4632). */
export function isAddressRange(text: string): boolean {
  const [address = "", length, ...rest] = text.split("/");
  const bits = isIP(address) === 4 ? 32 : 128;
  return (
    isIP(address) !== 0 &&
    rest.length === 0 &&
    (length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits))
  );
}

/** Creates the set of addresses in these ranges; throws for a range that `isAddressRange` rejects. */
export function createAddressSet(ranges: readonly string[]): AddressSet {
  const parsed = ranges.map((range): [ipaddr.IPv4 | ipaddr.IPv6, number] => {
    if (!isAddressRange(range)) throw new RangeError(`${range} is neither an address nor an address range`);
    const [text = "", length] = range.split("/");
    const written = ipaddr.parse(text);
    const address = ipaddr.process(text);
    const bits = address.toByteArray().length * 8;
    // The prefix of a range within `::ffff:0:0/96` includes the 96 bits that `process` removes.
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
 * The unit in which callers are limited: an IPv4 address, or the /64 of an IPv6 address, which is what one subscriber
 * is given (RFC 6177). Other text is returned unchanged.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address; // `isIP` accepts only one spelling of an IPv4 address; this runs for every connection
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
}

// All that is assigned of IPv6 (RFC 4291, section 2.4). Whatever leads to IPv4 in another form lies elsewhere or has a range of its own.
const assignedIpv6 = createAddressSet(["2000::/3"]);
// Set aside in it, or in IPv4 (IANA's registries of special purposes), and Azure's wire server, which gives secrets to its machines.
const setAside = createAddressSet([
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "192.0.0.0/24",
  "192.88.99.0/24",
  "198.18.0.0/15",
  "168.63.129.16/32",
]);

/**
 * Whether an address is public: not private, loopback, link-local, otherwise reserved, or a cloud's own for its machines. Of IPv6
 * only what is assigned, without what translates to IPv4.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  if (address.range() !== "unicast" || setAside.has(text)) return false;
  return address.kind() === "ipv4" || assignedIpv6.has(text);
}

/** Whether an address is a loopback address. */
export function isLoopbackAddress(text: string): boolean {
  return isIP(text) !== 0 && ipaddr.process(text).range() === "loopback";
}

/** Whether a server that listens on this host can be reached only from its own machine. */
export function isLoopbackHost(host: string): boolean {
  return isLoopbackAddress(host) || host === "localhost" || host.endsWith(".localhost");
}

/** Whether a server on this host listens on all addresses of its machine. */
function isWildcardHost(host: string): boolean {
  return host === "0.0.0.0" || host === "::" || host === "[::]";
}

/** Whether a URL itself names a host that is not public: `localhost` or a literal private address. */
export function namesPrivateHost({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, ""); // `localhost.` is the same name
  return host === "localhost" || host.endsWith(".localhost") || (isIP(host) !== 0 && !isPublicAddress(host));
}

/** An address to listen on. */
export type ListenAddress = { hostname: string; port: number };

/** Whether two servers cannot listen on these addresses at once. Port 0, which picks a free one, is never the same. */
export function isSameAddress(one: ListenAddress, other: ListenAddress | undefined): boolean {
  if (other === undefined) return false;
  const areSame = one.hostname === other.hostname || isWildcardHost(one.hostname) || isWildcardHost(other.hostname);
  return areSame && one.port !== 0 && one.port === other.port;
}

/** The URL of a server that listens on an address. An IPv6 address may stand in brackets. */
export function urlOf(
  { hostname, port }: { hostname?: string | undefined; port?: number | undefined },
  isTls: boolean,
): string {
  const host = hostname?.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
  return `${isTls ? "https" : "http"}://${host}:${port}`;
}
