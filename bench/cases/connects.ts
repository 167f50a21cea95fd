import type { HeraldPeer } from "../harness/herald.ts";
import { startMeter } from "../harness/meter.ts";
import type { Contender } from "../harness/report/rounds.ts";

/** The user who connects, of the organization of every run. Without a conversation, nobody is that. */
export const connecting = "connecting";

/** Connects one after the other; each asks for something and closes. */
export function connectsTo(herald: HeraldPeer): Contender {
  return {
    name: herald.name,
    async run(ms) {
      const [token] = await herald.tokensOf([connecting]);
      const stopMeter = startMeter(herald.pid);
      const startedAt = performance.now();
      let connects = 0;
      while (performance.now() - startedAt < ms) {
        await connectOnce(`${herald.url.replace("http", "ws")}/ws`, `${token}`);
        connects++;
      }
      const perSecond = (connects * 1000) / (performance.now() - startedAt);
      const { serverCpuMs, others } = stopMeter();
      return { perSecond, serverCpuMicros: (serverCpuMs * 1000) / connects, othersBusy: others };
    },
  };
}

function connectOnce(url: string, token: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = new WebSocket(url);
  socket.onopen = () => socket.send(JSON.stringify({ request: { connect: { token }, id: 1 } }));
  socket.onmessage = ({ data }) => {
    if (String(data).includes('"error"')) reject(new Error(`a connection was refused: ${data}`));
    socket.close();
    resolve();
  };
  socket.onerror = () => reject(new Error("a connection was refused"));
  return promise;
}
