import type {
  DeliveryItem,
  InboxItem,
  ListedMessage,
  MessageReport,
  Page,
  PageOptions,
  Recipient,
  RecipientState,
  SystemMessageReport,
} from "../../types.ts";
import type { CallOptions, Request } from "../exchange.ts";
import { eachOf } from "./pages.ts";
import { path, query } from "./paths.ts";

type RecipientFilter = { state?: RecipientState };
type InboxFilter = { unread?: boolean };
type SystemRecipientFilter = RecipientFilter & { senderId?: string };

/** Creates the calls that read what was sent, and who has it. */
export function createReportCalls(request: Request) {
  async function listRecipients(
    org: string,
    serverMid: string,
    page: RecipientFilter & PageOptions = {},
    options: CallOptions = {},
  ): Promise<Page<Recipient>> {
    const target = path`/admin/organizations/${org}/messages/${serverMid}/recipients` + query(page);
    return request("GET", target, undefined, options);
  }

  async function listSystemRecipients(
    org: string,
    mid: string,
    page: SystemRecipientFilter & PageOptions = {},
    options: CallOptions = {},
  ): Promise<Page<Recipient>> {
    const target = path`/admin/organizations/${org}/system-messages/${mid}/recipients` + query(page);
    return request("GET", target, undefined, options);
  }

  async function listInbox(
    org: string,
    uid: string,
    page: InboxFilter & PageOptions = {},
    options: CallOptions = {},
  ): Promise<Page<InboxItem>> {
    const target = path`/admin/organizations/${org}/users/${uid}/system-messages` + query(page);
    return request("GET", target, undefined, options);
  }

  async function listDeliveries(
    org: string,
    uid: string,
    page: RecipientFilter & PageOptions & { after?: string } = {},
    options: CallOptions = {},
  ): Promise<Page<DeliveryItem>> {
    const target = path`/admin/organizations/${org}/users/${uid}/deliveries` + query(page);
    return request("GET", target, undefined, options);
  }

  return {
    /**
     * A page of what was addressed to a user, newest first, with what the user has of it. It may hold fewer than `limit`; the list ends
     * only when `cursor` is `null`. `after` is the `cursor` by another name.
     */
    listDeliveries,
    /** Yields what was addressed to a user, newest first: all, or what the user has in one state. */
    deliveries(
      org: string,
      uid: string,
      filter: RecipientFilter = {},
      options: CallOptions = {},
    ): AsyncGenerator<DeliveryItem, void> {
      return eachOf((page) => listDeliveries(org, uid, { ...filter, ...page }, options));
    },
    /** A page of a user's inbox, newest first: the system messages that are kept there, all or unread ones. */
    listInbox,
    /** Yields a user's inbox, newest first. */
    inbox(
      org: string,
      uid: string,
      filter: InboxFilter = {},
      options: CallOptions = {},
    ): AsyncGenerator<InboxItem, void> {
      return eachOf((page) => listInbox(org, uid, { ...filter, ...page }, options));
    },
    /** The history of a conversation, newest first, or oldest first with `after`. */
    async listMessages(
      org: string,
      cid: string,
      page: PageOptions & { before?: string; after?: string } = {},
      options: CallOptions = {},
    ): Promise<Page<ListedMessage>> {
      const target = path`/admin/organizations/${org}/conversations/${cid}/messages` + query(page);
      return request("GET", target, undefined, options);
    },
    /** Reads a message and its delivery report, by the `server_mid` of the send. */
    async getMessage(org: string, serverMid: string, options: CallOptions = {}): Promise<MessageReport> {
      return request("GET", path`/admin/organizations/${org}/messages/${serverMid}`, undefined, options);
    },
    /** Reads a system message and its delivery report, by the `mid` of the send. If several senders used the same id, give `senderId`. */
    async getSystemMessage(
      org: string,
      mid: string,
      sender: { senderId?: string } = {},
      options: CallOptions = {},
    ): Promise<SystemMessageReport> {
      return request(
        "GET",
        path`/admin/organizations/${org}/system-messages/${mid}` + query(sender),
        undefined,
        options,
      );
    },

    /** A page of the recipients of a message, by id. It may hold fewer than `limit`; the list ends only when `cursor` is `null`. */
    listRecipients,
    /** Like `listRecipients`, for a system message, in the order of its `uids`. If several senders used the same id, give `senderId`. */
    listSystemRecipients,
    /** Yields the recipients of a message, by id: all, or those in one state. */
    recipients(
      org: string,
      serverMid: string,
      filter: RecipientFilter = {},
      options: CallOptions = {},
    ): AsyncGenerator<Recipient, void> {
      return eachOf((page) => listRecipients(org, serverMid, { ...filter, ...page }, options));
    },
    /** Like `recipients`, for a system message. */
    systemRecipients(
      org: string,
      mid: string,
      filter: SystemRecipientFilter = {},
      options: CallOptions = {},
    ): AsyncGenerator<Recipient, void> {
      return eachOf((page) => listSystemRecipients(org, mid, { ...filter, ...page }, options));
    },
  };
}
