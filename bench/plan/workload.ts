import { createRandom } from "../../test/harness/random.ts";

/** What users do at the busiest time. Rates are per second. */
export type Workload = {
  name: string;
  connections: number;
  organizations: number;
  /** The size of the n-th largest organization is proportional to n to the power of minus this (Zipf). */
  tail: number;
  conversationsPerConnection: number;
  messagesPerConnection: number;
  /** Connections that hear a message. */
  recipients: number;
  systemMessagesPerConnection: number;
  /** Users listed in a system message, and how many of them are connected. */
  listed: number;
  listedOnline: number;
  reconnectsPerConnection: number;
  retentionDays: number;
  /** The mean rate of a day divided by that of the busiest time, for the disk. */
  meanByPeak: number;
};

/** One ordered log: an organization, or one part of a large one. */
export type Log = {
  /** Connections of users who belong to it. */
  connections: number;
  /** Connections of the whole organization. */
  ofOrganization: number;
  /** The number of parts of the organization. */
  parts: number;
};

const everyday = {
  tail: 1,
  conversationsPerConnection: 20,
  messagesPerConnection: 0.01,
  recipients: 10,
  systemMessagesPerConnection: 0.001,
  listed: 100,
  listedOnline: 30,
  reconnectsPerConnection: 1 / 1800,
  retentionDays: 30,
  meanByPeak: 0.4,
} as const;

/** Workloads of this kind, of any size. */
export function everydayWorkload(name: string, connections: number, organizations: number): Workload {
  return { name, connections, organizations, ...everyday };
}

/** The two workloads that the documentation plans for. */
export const workloads: readonly Workload[] = [
  everydayWorkload("1 M connections", 1_000_000, 20_000),
  everydayWorkload("100 M connections", 100_000_000, 1_000_000),
];

/** Events of one connection per second. */
export function eventsPerConnection({ messagesPerConnection, systemMessagesPerConnection }: Workload): number {
  return messagesPerConnection + systemMessagesPerConnection;
}

/** The connections of each organization, largest first. They add up to those of the workload. */
export function organizationSizes({ connections, organizations, tail }: Workload, seed: number): Float64Array {
  const { next } = createRandom(seed);
  const weights = Float64Array.from({ length: organizations }, (_, rank) => (0.75 + next() / 2) / (rank + 1) ** tail);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights
    .map((weight) => (weight / sum) * connections)
    .sort()
    .reverse();
}

/** The logs of all organizations; one with more than `maxConnections` is split into equal parts. */
export function logsOf(sizes: Float64Array, maxConnections: number): Log[] {
  return [...sizes].flatMap((size) => {
    const parts = Math.max(1, Math.ceil(size / maxConnections));
    return Array.from({ length: parts }, () => ({ connections: size / parts, ofOrganization: size, parts }));
  });
}
