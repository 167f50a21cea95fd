import { describe, expect, test } from "bun:test";
import { openSamaClient } from "../../harness/clients/sama-client.ts";
import { eventually } from "../../harness/deadline.ts";
import { readSample } from "../../harness/reading/metrics.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald({ env: { HERALD_LIMIT_USER_REQUESTS: "0", HERALD_LIMIT_REQUESTS_PER_CONNECTION: "0" } });

const subscribe = "user_last_activity_subscribe";

describe("user_last_activity_subscribe", () => {
  test("tells 0 while the user is connected, else the seconds since; and then each change, once", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice", "bob"]);
    using alice = await openSamaClient(org, "alice");
    const before = await alice.request(subscribe, { id: "bob" }, "last_activity");
    expect(before).toEqual({ bob: expect.any(Number) });
    expect(before.bob).toBeGreaterThan(0);
    const [phone, laptop] = [await org.socket("bob"), await org.sse("bob")];
    expect(await alice.socket.next()).toEqual({ last_activity: { bob: 0 } });
    expect(await alice.request(subscribe, { id: "bob" }, "last_activity")).toEqual({ bob: 0 });
    phone.terminate();
    await phone.closed;
    laptop.close();
    expect(await alice.socket.next()).toEqual({ last_activity: { bob: 1 } });
    await org.expectNothingElse(alice.socket);
  });

  test("remembers when a user was last connected, and takes the creation of one who never was", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice", "bob", "carol"]);
    const bob = await org.socket("bob");
    using alice = await openSamaClient(org, "alice");
    const seconds = async (id: string) => (await alice.request(subscribe, { id }, "last_activity"))[id] ?? 0;
    await eventually(async () => ((await seconds("carol")) > 1 ? true : undefined), "two seconds");
    bob.terminate();
    await bob.closed;
    await eventually(async () => {
      const [bobs, carols] = [await seconds("bob"), await seconds("carol")];
      return bobs > 0 && bobs < carols ? true : undefined;
    }, "the end of the connection to be stored");
  });

  test("replaces the subscription before it, and ends with user_last_activity_unsubscribe", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice", "bob", "carol"]);
    using alice = await openSamaClient(org, "alice");
    await alice.request(subscribe, { id: "bob" }, "last_activity");
    await alice.request(subscribe, { id: "carol" }, "last_activity");
    using _bob = await org.socket("bob");
    using _carol = await org.socket("carol");
    expect(await alice.socket.next()).toEqual({ last_activity: { carol: 0 } });
    expect(await alice.request("user_last_activity_unsubscribe", {}, "success")).toBe(true);
    expect(await alice.request("user_last_activity_unsubscribe", {}, "success")).toBe(true);
    _carol.terminate();
    await _carol.closed;
    await org.expectNothingElse(alice.socket);
  });

  test("is refused alike for a user without a common conversation and for nobody; who left hears no more", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await org.conversation(["dave"]);
    using alice = await openSamaClient(org, "alice");
    const missing = { status: 404, code: "user_not_found" };
    for (const id of ["dave", "nobody"])
      expect(alice.request(subscribe, { id }, "last_activity")).rejects.toMatchObject(missing);
    for (const data of [{}, { id: "" }, { ids: ["bob"] }, { id: ["bob"] }])
      expect(alice.request(subscribe, data, "last_activity")).rejects.toMatchObject({ status: 422 });
    using carol = await openSamaClient(org, "carol");
    await org.join(cid, "carol");
    for (const client of [alice, carol]) await client.request(subscribe, { id: "bob" }, "last_activity");
    await org.leave(cid, "alice");
    using _bob = await org.socket("bob");
    expect(await carol.socket.next()).toEqual({ last_activity: { bob: 0 } });
    await org.expectNothingElse(alice.socket, carol.socket);
  });

  test("holds nothing once its connection is gone", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice", "bob"]);
    for (let round = 0; round < 3; round++) {
      using alice = await openSamaClient(org, "alice");
      await alice.request(subscribe, { id: "bob" }, "last_activity");
    }
    const subscriptions = () => readSample(herald().url, "herald_held", { what: "subscriptions" });
    await eventually(async () => (await subscriptions()) === 0 || undefined, "no subscription");
  });
});

describe("user_last_activity", () => {
  test("tells it of several users at once, without a subscription, and leaves strangers out", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice", "bob", "carol"]);
    await org.conversation(["dave"]);
    using alice = await openSamaClient(org, "alice");
    using bob = await org.socket("bob");
    const ids = ["bob", "carol", "dave", "nobody", "bob"];
    const activity = await alice.request("user_last_activity", { ids }, "last_activity");
    expect(activity).toEqual({ bob: 0, carol: expect.any(Number) });
    expect(activity.carol).toBeGreaterThan(0);
    expect(await alice.request("user_last_activity", { ids: ["nobody"] }, "last_activity")).toEqual({});
    bob.terminate();
    await bob.closed;
    await eventually(async () => {
      const { bob: seconds = 0 } = await alice.request("user_last_activity", { ids: ["bob"] }, "last_activity");
      return seconds > 0 ? true : undefined;
    }, "bob to be offline");
    for (const data of [{}, { ids: "bob" }, { id: "bob" }, { ids: [] }, { ids: Array(101).fill("bob") }])
      await expect(alice.request("user_last_activity", data, "last_activity")).rejects.toMatchObject({ status: 422 });
    await org.expectNothingElse(alice.socket);
  });
});
