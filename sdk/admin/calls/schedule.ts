import type { DryRunAnswer, Page, PageOptions, ScheduledSend, ScheduledState, ScheduleOrder } from "../../types.ts";
import type { CallOptions, Request } from "../exchange.ts";
import { path, query } from "./paths.ts";

/** Creates the calls about scheduled sends. */
export function createScheduleCalls(request: Request) {
  return {
    /**
     * Schedules a send, or replaces the one of this `id` that waits. It is checked now, and sent once at its time. The same call
     * again changes nothing, so it is safe to retry.
     */
    async schedule(org: string, id: string, order: ScheduleOrder, options: CallOptions = {}): Promise<ScheduledSend> {
      return request("PUT", path`/admin/organizations/${org}/scheduled/${id}`, order, options);
    },
    /** Checks a send and returns whom it would reach now, without scheduling anything. */
    async trySchedule(org: string, id: string, order: ScheduleOrder, options: CallOptions = {}): Promise<DryRunAnswer> {
      return request(
        "PUT",
        path`/admin/organizations/${org}/scheduled/${id}` + query({ dry_run: true }),
        order,
        options,
      );
    },
    /** Reads a scheduled send, or what became of it. */
    async getScheduled(org: string, id: string, options: CallOptions = {}): Promise<ScheduledSend> {
      return request("GET", path`/admin/organizations/${org}/scheduled/${id}`, undefined, options);
    },
    /** Lists scheduled sends by time, those of one `state` or all. */
    async listScheduled(
      org: string,
      page: PageOptions & { state?: ScheduledState } = {},
      options: CallOptions = {},
    ): Promise<Page<ScheduledSend>> {
      return request("GET", path`/admin/organizations/${org}/scheduled` + query(page), undefined, options);
    },
    /** Cancels a scheduled send: once this resolves, it is never sent. Rejects with `already_sent` if it was, or has failed. */
    async cancelScheduled(org: string, id: string, options: CallOptions = {}): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/scheduled/${id}`, undefined, options);
    },
  };
}
