// The page in Chromium: one client of the SDK, like those in processes. The test provides the functions that are declared here.
import { listen } from "../listener.ts";
import type { Ledger, Place } from "../recorder.ts";

declare function takePlace(): Promise<Place>;
declare function takeToken(): Promise<string>;
/** Says that the page is connected, and resolves at the end. */
declare function waitForEnd(): Promise<{ last: string[]; ms: number }>;
declare function give(ledger: Ledger): Promise<void>;

const listener = listen(await takePlace(), takeToken);
await listener.untilConnected;
const { last, ms } = await waitForEnd();
await give(await listener.account(last, ms));
