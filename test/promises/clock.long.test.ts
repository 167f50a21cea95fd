import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { OPCODE, openRawSocket } from "../harness/clients/raw-socket.ts";
import { within } from "../harness/deadline.ts";
import { createSteppedClock } from "../harness/engines/stepped-clock.ts";
import { startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const clock = createSteppedClock();
if (clock !== undefined) {
  afterAll(() => clock[Symbol.dispose]());

  describe("a clock stepped back by an hour", () => {
    test("stops no heartbeat: clients that answer are pinged on, and those that do not are cut", async () => {
      await using herald = await startHerald({
        env: { ...clock.env, HERALD_LIMIT_PING_SECONDS: "1", HERALD_LIMIT_PONG_SECONDS: "1" },
      });
      const org = await createOrganization(herald);
      const token = await org.token("alice");
      using alive = await openRawSocket(herald.url, { token });
      using dead = await openRawSocket(herald.url, { token, answersPings: false });
      const isPing = (frame: { opcode: number }) => frame.opcode === OPCODE.ping;
      await alive.frames.next(isPing, "a ping before the step");
      clock.set(-3_600);
      await alive.frames.next(isPing, "a first ping after the step");
      await alive.frames.next(isPing, "a second ping after the step");
      expect(await within(dead.ended, "the end of the connection that is dead")).toEqual({ closeCode: undefined });
      await herald.stop();
    });
  });
}
