/** Assumptions that were not measured here. The documentation shows each by its name. */
export const assumptions = {
  /** A node is one process with one JavaScript thread. */
  nodeCores: 1,
  nodeMemoryBytes: 4 * 2 ** 30,
  databaseCores: 16,
  databaseDiskBytes: 8e12,
  natsCores: 4,
  /** Events per second through one NATS server, in or out: 737 k were measured for the design. */
  natsEventsPerSecond: 737_000,
  /** Of the network of a node or a server: 10 Gbit/s. */
  networkBytesPerSecond: 1.25e9,
  /** Subject, TCP and IP headers, and acknowledgements of an event on the bus. */
  busOverheadBytes: 150,
  headCheckSeconds: 5,
  pingSeconds: 25,
  /**
   * Events that a node keeps per organization for joining connections: between 512 and 1,024, and none for longer than
   * 30 s.
   */
  rememberedEvents: 768,
  uptimeSeconds: 86_400,
} as const;
