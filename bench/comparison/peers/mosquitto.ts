import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../test/harness/engines/free-port.ts";
import { maskedFrame } from "../../harness/clients/handshake.ts";
import { type Step, upgrade } from "../generator.ts";
import { payload, type StartCompared } from "../peer.ts";
import { findProgram, startProgram, versionOf } from "./programs.ts";

const topic = "hall";

/** Mosquitto over WebSocket, publishing with QoS 1: acknowledged once it is in its memory. */
export const startMosquitto: StartCompared = async (folder) => {
  const mosquitto = findProgram("mosquitto", "mosquitto");
  if (mosquitto === undefined) return undefined;
  const program = await startProgram((port) => {
    const configuration = `
user root
allow_anonymous true
set_tcp_nodelay true
log_type error
listener ${port}
protocol websockets
listener ${freePort()} 127.0.0.1`; // without a listener for TCP, 2.0.11 does not start
    writeFileSync(join(folder, "mosquitto.conf"), `${configuration}\n`);
    return [mosquitto, "-c", join(folder, "mosquitto.conf")];
  });
  return {
    name: "Mosquitto",
    durability: "in memory",
    settings: "`protocol websockets`, `set_tcp_nodelay true`, publishers with QoS 1, listeners with QoS 0",
    version: versionOf([mosquitto, "-h"]),
    port: program.port,
    pids: [program.pid],
    listeners: (count) => Array.from({ length: count }, () => [...opening(), subscription()]),
    publisher: { opening: opening(), request: maskedFrame(publication()), answer: "frame" },
    stop: program.stop,
  };
};

/** CONNECT (MQTT 3.1.1, section 3.1) with a clean session and without an id, so that the server gives one; answered by CONNACK. */
function opening(): Step[] {
  const body = Buffer.concat([textOf("MQTT"), Buffer.from([4, 2, 0, 0]), textOf("")]);
  return [upgrade("/mqtt", { protocol: "mqtt" }), { bytes: maskedFrame(packet(0x10, body)), answers: 1 }];
}

/** SUBSCRIBE (section 3.8) with QoS 0; answered by SUBACK. */
function subscription(): Step {
  const body = Buffer.concat([Buffer.from([0, 1]), textOf(topic), Buffer.from([0])]);
  return { bytes: maskedFrame(packet(0x82, body)), answers: 1 };
}

/** PUBLISH (section 3.3) with QoS 1; answered by PUBACK. */
function publication(): Buffer {
  return packet(0x32, Buffer.concat([textOf(topic), Buffer.from([0, 1]), Buffer.from(payload)]));
}

function packet(type: number, body: Buffer): Buffer {
  const { length } = body;
  const size = length < 128 ? [length] : [(length & 127) | 128, length >> 7]; // up to 16,383 bytes
  return Buffer.concat([Buffer.from([type, ...size]), body]);
}

function textOf(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length >> 8, text.length & 255]), Buffer.from(text)]);
}
