import { type Audience, openAudience } from "./clients/audience.ts";
import { createRequestTemplate, openLane, type RequestTemplate } from "./clients/lane.ts";
import type { HeraldPeer } from "./herald.ts";
import { benchOrg, sendBody } from "./organization.ts";
import type { Peer } from "./servers.ts";

/** A conversation on one server with its listeners, and the request that sends to it. */
export type Stage = { peer: Peer; topic: string; request: RequestTemplate; audience: Audience };

type Hearing = { onFrame?(): void; onComplete?(): void };

const ping = JSON.stringify({ request: { ping: {}, id: 1 } });

/** Opens a conversation of Herald with `size` connected participants; the sender is not connected. */
export async function openHeraldStage(
  herald: HeraldPeer,
  topic: string,
  size: number,
  hearing: Hearing,
): Promise<Stage> {
  const uids = Array.from({ length: size }, (_, index) => `${topic}-${index}`);
  await herald.putConversation(topic, uids);
  const tokens = await herald.tokensOf(uids);
  const headers = tokens.map((token) => [`Authorization: Bearer ${token}`]);
  const audience = await openAudience({ url: herald.url, path: "/ws", headers, hello: ping, ...hearing });
  const request = createRequestTemplate(herald.url, "/admin/message", benchOrg.key, sendBody(topic));
  return await calibrated({ peer: herald, topic, request, audience });
}

/** Opens the same on the bare publisher. */
export async function openBareStage(peer: Peer, topic: string, size: number, hearing: Hearing): Promise<Stage> {
  const headers = Array.from({ length: size }, () => []);
  const audience = await openAudience({ url: peer.url, path: `/${topic}`, headers, hello: ping, ...hearing });
  const request = createRequestTemplate(peer.url, `/${topic}`, benchOrg.key, sendBody(topic));
  return await calibrated({ peer, topic, request, audience });
}

async function calibrated(stage: Stage): Promise<Stage> {
  const lane = await openLane(stage.request);
  await stage.audience.calibrate(() => lane.send(() => lane.close()));
  return stage;
}
