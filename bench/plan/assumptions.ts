/** What was not measured here. Each is a name that the documentation shows. */
export const assumptions = {
  /** A node is one process with one thread for JavaScript. */
  nodeCores: 1,
  nodeMemoryBytes: 4 * 2 ** 30,
  databaseCores: 16,
  databaseDiskBytes: 8e12,
  natsCores: 4,
  /** Events through one NATS server in a second, in or out: 737 k were measured when the design was made. */
  natsEventsPerSecond: 737_000,
  /** Of the network of a node or a server: 10 Gbit/s. */
  networkBytesPerSecond: 1.25e9,
  /** Subject, headers of TCP and IP, and acknowledgements of an event on the bus. */
  busOverheadBytes: 150,
  headCheckSeconds: 5,
  pingSeconds: 25,
  /** Events that a node keeps of an organization for those who join: between 512 and 1,024, and none for longer than 30 s. */
  rememberedEvents: 768,
  uptimeSeconds: 86_400,
} as const;
