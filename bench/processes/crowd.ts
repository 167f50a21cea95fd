// Holds idle connections from a process of its own, so that its file descriptors and its answers to pings are not the load
// generator's. The parent sends {url, people, kind}; the answer, once all have joined, is how many they are.
import { openCrowd, type Person } from "../harness/crowds/crowd.ts";

/** Whom to hold connections for. */
export type CrowdOrder = { url: string; people: readonly Person[]; kind: "socket" | "stream" };

process.on("message", ({ url, people, kind }: CrowdOrder) => {
  openCrowd({ url }, people, kind).then(
    ({ size }) => process.send?.(size),
    (error: unknown) => {
      throw error;
    },
  );
});
