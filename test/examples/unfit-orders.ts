/** Bodies of requests that no example may take for an order: each is the caller's mistake. */
export const unfitOrders: readonly string[] = [
  "",
  "not JSON",
  "null",
  "[]",
  ...[
    {},
    { user: "bob" },
    { user: "bob", order: "" },
    { user: "bob", order: null },
    { user: "bob", order: { id: "456" } },
    { user: "bob", order: "4".repeat(200) }, // no id of a message may be so long
    { user: "bob", order: "4\n5" },
  ].map((body) => JSON.stringify(body)),
];

/** Posts each of them; returns the statuses. */
export async function postUnfitOrders(url: string): Promise<number[]> {
  const post = async (body: string) => {
    const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    return response.status;
  };
  return await Promise.all(unfitOrders.map(post));
}
