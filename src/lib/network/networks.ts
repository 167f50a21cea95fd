import ipaddr from "ipaddr.js";

/**
 * Whether `text` is a network in unambiguous CIDR notation: IPv4 in four decimal parts or IPv6 without a zone, no bits
 * set beyond the prefix (`10.0.0.1/8` is a mistake), and no IPv4-mapped IPv6.
 */
export function isNetwork(text: string): boolean {
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) {
    const [address] = ipaddr.IPv4.parseCIDR(text);
    return !/\/0\d/.test(text) && ipaddr.IPv4.networkAddressFromCIDR(text).toString() === address.toString();
  }
  if (!ipaddr.IPv6.isValidCIDR(text) || text.includes("%") || /\/0\d/.test(text)) return false;
  const [address] = ipaddr.IPv6.parseCIDR(text);
  const isLowest = ipaddr.IPv6.networkAddressFromCIDR(text).toString() === address.toString();
  return isLowest && !address.isIPv4MappedAddress();
}

/**
 * Whether one of `networks` contains all of `network`. Adjacent networks that only contain it together do not count.
 */
export function isWithin(network: string, networks: string[]): boolean {
  const [address, prefix] = ipaddr.parseCIDR(network);
  return networks
    .map((outer): [ipaddr.IPv4 | ipaddr.IPv6, number] => ipaddr.parseCIDR(outer))
    .some(([outer, bits]) => bits <= prefix && address.kind() === outer.kind() && address.match(outer, bits));
}
