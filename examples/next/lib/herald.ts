import { createAdmin } from "@herald/sdk/admin";

/** Where Herald is. Browsers must reach it, too. */
export const heraldUrl = process.env.HERALD_URL ?? "http://127.0.0.1:7070";

/** The admin client. Import it in server code only: it has the key. */
export const herald = createAdmin({ url: heraldUrl, key: process.env.HERALD_ADMIN_API_KEY ?? "", deadlineMs: 10_000 });
