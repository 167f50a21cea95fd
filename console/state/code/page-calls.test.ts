import { expect, test } from "bun:test";
import { callsOf } from "./page-calls.ts";

const actionsOf = (page: string, org?: string, id?: string) =>
  callsOf({ page, id, query: {} }, org).map(({ action }) => action);

test("without an organization, only calls that need none are shown", () => {
  expect(actionsOf("overview", "demo")).toEqual(["listNodes", "listOnline"]);
  expect(actionsOf("overview")).toEqual(["listNodes"]);
  expect(actionsOf("users")).toEqual([]);
  expect(actionsOf("organizations", undefined, "demo")).toEqual(["getOrganization"]);
});
