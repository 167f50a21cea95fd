import { expect, test } from "bun:test";
import { parseRoute, routeTo } from "./route.ts";

test("an address of any ids is read as it was written", () => {
  for (const id of ["welcome", "a/b", "ä?&#%", "..", "%2F", "👋 x"]) {
    const route = parseRoute(routeTo("conversations", id, { org: id, cid: "", uid: undefined }));
    expect(route).toEqual({ page: "conversations", id, query: { org: id } });
  }
});

test("without a page it is the overview, and what cannot be decoded stays as it is", () => {
  expect(parseRoute("")).toEqual({ page: "overview", id: undefined, query: {} });
  expect(parseRoute("#/users/%E0%A4%A")).toEqual({ page: "users", id: "%E0%A4%A", query: {} });
});
