import { expect, test } from "bun:test";
import { judge, type Sent, type Told } from "./judge.ts";

const sent: Sent[] = [
  {
    id: "m",
    recipients: [
      { uid: "on", deliveredAt: 10 },
      { uid: "off", deliveredAt: undefined },
      { uid: "late", deliveredAt: 20_000 },
    ],
  },
];
const good: Told = { webhookId: "w", messageId: "m", at: 12_000, part: 1, uids: ["off", "late"] };
const faultless = { forgotten: [], wronged: [], doubled: [], unknown: [] };

test("the judge of webhooks accepts what the reports say", () => {
  expect(judge(sent, [good])).toEqual({ ...faultless, unreached: 2, reached: 1 });
});

test("the judge of webhooks finds users who are missing, who had it, who are told of twice or not addressed", () => {
  expect(judge(sent, []).forgotten).toEqual(["m off"]);
  expect(judge(sent, [good, { ...good, webhookId: "x", uids: ["on"] }]).wronged).toEqual(["m on"]);
  expect(judge(sent, [good, { ...good, webhookId: "x", part: 2, uids: ["late"] }]).doubled).toEqual(["m late"]);
  expect(judge(sent, [good, { ...good, webhookId: "x", uids: ["stranger"] }]).unknown).toEqual(["m stranger"]);
  expect(judge(sent, [good, { ...good, webhookId: "x", messageId: "n" }]).unknown).toEqual(["n off", "n late"]);
});
