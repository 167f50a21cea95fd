import type { AnyScenario } from "../scenario.ts";
import { clockStep } from "./clock.ts";
import { dependenciesAway } from "./dependencies.ts";
import { diskFullEmbedded, diskFullPostgres } from "./disk-full.ts";
import { failoverSynchronous, failoverWithLag, restoredBackup } from "./failover.ts";
import { filesDiskFull, filesStoreAway } from "./files.ts";
import { freezeNode } from "./freeze-node.ts";
import { growingMessages } from "./growing-messages.ts";
import { killNode } from "./kill-node.ts";
import { natsFrozen, natsKilled } from "./nats.ts";
import { natsLineCut, natsLineFrozen, natsPartition } from "./nats-partition.ts";
import { outboxAway, outboxKilled, outboxStoreKilled } from "./outbox.ts";
import { postgresFastRestart, postgresFrozen, postgresImmediateRestart, postgresOutOfConnections } from "./postgres.ts";
import { postgresLineCut, postgresLineFrozen, postgresLineSlow } from "./postgres-line.ts";
import { postgresReadOnly } from "./postgres-read-only.ts";
import { proposals } from "./proposals.ts";
import { healthyReader, reconnectStorm, slowReader } from "./readers.ts";
import { sameId } from "./same-id.ts";
import { scheduledSends } from "./scheduled-sends.ts";
import { webhookNodeKilled, webhookReceiverAway, webhookReceiverSlow } from "./webhooks.ts";

/** Every row of the list of faults. */
export const scenarios: readonly AnyScenario[] = [
  killNode,
  postgresFastRestart,
  postgresImmediateRestart,
  postgresFrozen,
  postgresOutOfConnections,
  postgresReadOnly,
  failoverWithLag,
  failoverSynchronous,
  restoredBackup,
  natsKilled,
  natsFrozen,
  natsPartition,
  natsLineFrozen,
  natsLineCut,
  postgresLineCut,
  postgresLineFrozen,
  postgresLineSlow,
  freezeNode,
  sameId,
  scheduledSends,
  proposals,
  growingMessages,
  outboxKilled,
  outboxAway,
  outboxStoreKilled,
  webhookNodeKilled,
  webhookReceiverSlow,
  webhookReceiverAway,
  filesStoreAway,
  filesDiskFull,
  dependenciesAway,
  diskFullEmbedded,
  diskFullPostgres,
  clockStep,
  reconnectStorm,
  slowReader,
  healthyReader,
];
