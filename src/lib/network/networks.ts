import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

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
    .map((outer) => ipaddr.parseCIDR(outer))
    .some((outer) => outer[1] <= prefix && contains(outer, address));
}

function contains([network, prefix]: Network, address: Address): boolean {
  return address.kind() === network.kind() && address.match(network, prefix);
}
