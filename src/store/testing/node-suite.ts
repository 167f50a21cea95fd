import { expect, test } from "bun:test";
import type { NodeRegistry } from "../ports.ts";

/** Tests the port `NodeRegistry`, for every implementation. */
export function describeNodeRegistry(
  engine: string,
  open: () => Promise<{ nodes: NodeRegistry; close(): Promise<void> }>,
): void {
  test(`the node registry ${engine} lists nodes by id, with the number of their beats and their last status`, async () => {
    const { nodes, close } = await open();
    await nodes.beat("b", "one");
    await nodes.beat("a", "two");
    await nodes.beat("b", "three");
    expect(await nodes.list()).toEqual([
      { id: "a", beat: 1, status: "two" },
      { id: "b", beat: 2, status: "three" },
    ]);
    await nodes.remove("b", 1);
    await nodes.remove("nobody");
    expect((await nodes.list()).map(({ id }) => id)).toEqual(["a", "b"]);
    await nodes.remove("b", 2);
    await nodes.remove("a");
    expect(await nodes.list()).toEqual([]);
    await nodes.beat("b", "back");
    expect(await nodes.list()).toEqual([{ id: "b", beat: 1, status: "back" }]);
    await close();
  });
}
