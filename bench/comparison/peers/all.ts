import type { StartCompared } from "../peer.ts";
import { startCentrifugo } from "./centrifugo.ts";
import { startEjabberd } from "./ejabberd.ts";
import { startHeraldCompared } from "./herald.ts";
import { startMosquitto } from "./mosquitto.ts";
import { startNats } from "./nats.ts";
import { startNchan } from "./nchan.ts";
import { startSocketIoPostgres, startSocketIoSqlite } from "./socket-io.ts";
import { startSynapse } from "./synapse.ts";
import { startWsSqlite } from "./ws-sqlite.ts";

/** All servers that are compared, Herald first. */
export const servers: Readonly<Record<string, StartCompared>> = {
  herald: startHeraldCompared,
  nchan: startNchan,
  mosquitto: startMosquitto,
  nats: startNats,
  "ws-sqlite": startWsSqlite,
  "socket-io-sqlite": startSocketIoSqlite,
  "socket-io-postgres": startSocketIoPostgres,
  centrifugo: startCentrifugo,
  ejabberd: startEjabberd,
  synapse: startSynapse,
};
