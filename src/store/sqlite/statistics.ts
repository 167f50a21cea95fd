/**
 * For each SQLite index: its number of rows, then how many of them share the first column, the first two, and so on.
 * Describes a typical service: 100 organizations, each with 100 users, 100 conversations of 10 users, and 10,000
 * events.
 */
const shares: Record<string, Record<string, readonly number[]>> = {
  organization: { sqlite_autoindex_organization_1: [100, 1] },
  user: {
    sqlite_autoindex_user_1: [10_000, 100, 1],
    user_by_place: [10_000, 100, 5, 5, 5],
    user_by_name: [5_000, 50, 2, 1],
  },
  conversation: {
    sqlite_autoindex_conversation_1: [10_000, 100, 1],
    conversation_by_name: [5_000, 50, 2, 1],
  },
  participant: {
    sqlite_autoindex_participant_1: [100_000, 1_000, 10, 1],
    participant_by_user: [100_000, 1_000, 10, 1],
  },
  former_participant: {
    sqlite_autoindex_former_participant_1: [100_000, 1_000, 10, 1, 1],
    former_participant_by_id: [100_000, 1],
    former_participant_of_user: [100_000, 1_000, 10, 1],
  },
  event: {
    sqlite_autoindex_event_1: [1_000_000, 10_000, 1],
    event_by_id: [1_000_000, 1],
    event_by_mid: [1_000_000, 1, 1, 1, 1],
    event_in_conversation: [1_000_000, 10_000, 100, 1, 1, 1, 1, 1, 1],
    event_expiry: [10_000, 1, 1, 1],
    event_read: [10_000, 1],
    event_system_read: [1_000, 1],
    event_addressed: [100_000, 1_000, 1],
  },
  delivery: {
    sqlite_autoindex_delivery_1: [1_000_000, 10_000, 100, 50, 1, 1],
    delivery_by_id: [1_000_000, 1],
    delivery_gathered: [10, 1, 1, 1],
  },
  audience: { sqlite_autoindex_audience_1: [10_000, 100, 1, 1, 1], audience_by_id: [10_000, 1] },
  revoked_token: { sqlite_autoindex_revoked_token_1: [1_000, 10, 2, 1], revoked_token_by_id: [1_000, 1] },
  scheduled_send: {
    sqlite_autoindex_scheduled_send_1: [100_000, 1_000, 1],
    scheduled_send_by_state: [100_000, 1_000, 300, 1, 1],
    scheduled_send_by_time: [100_000, 1_000, 1, 1],
    scheduled_send_of_sender: [30_000, 300, 3, 1],
    scheduled_send_ended: [50_000, 1, 1, 1],
  },
  proposal: {
    sqlite_autoindex_proposal_1: [10_000, 100, 1],
    proposal_by_state: [10_000, 100, 20, 1, 1],
    proposal_by_time: [10_000, 100, 1, 1],
    proposal_of_key: [10_000, 100, 50, 1, 1],
    proposal_of_sender: [10_000, 100, 20, 1],
    proposal_waiting: [1_000, 1, 1, 1],
    proposal_ended: [9_000, 1, 1, 1],
  },
  file: {
    sqlite_autoindex_file_1: [100_000, 1_000, 1],
    file_by_id: [100_000, 1],
    file_by_content: [100_000, 1_000, 1],
    file_unnamed: [1_000, 2, 1, 1],
  },
  attachment: {
    sqlite_autoindex_attachment_1: [100_000, 1_000, 1, 1],
    attachment_by_event: [100_000, 2, 2, 1],
  },
  file_bytes: {
    sqlite_autoindex_file_bytes_1: [100_000, 1],
    file_bytes_to_remove: [100, 50, 1, 1],
    file_bytes_of_organization: [100_000, 1_000, 1],
  },
  schedule: { sqlite_autoindex_schedule_1: [100, 1], schedule_by_time: [100, 1, 1] },
  webhook: { sqlite_autoindex_webhook_1: [100, 1, 1], webhook_by_ref: [100, 1] },
  webhook_due: {
    sqlite_autoindex_webhook_due_1: [10_000, 100, 1, 1],
    webhook_due_by_time: [10_000, 1, 1, 1, 1],
    webhook_due_of_organization: [10_000, 100, 1, 1, 1],
  },
  webhook_delivery: {
    sqlite_autoindex_webhook_delivery_1: [100_000, 1_000, 1_000, 1],
    webhook_delivery_by_state: [100_000, 1_000, 1_000, 300, 1],
    webhook_delivery_next: [1_000, 10, 10, 1, 1],
    webhook_delivery_expiry: [100_000, 1, 1, 1, 1],
    webhook_delivery_of_event: [100_000, 1_000, 2],
  },
  webhook_queue: { sqlite_autoindex_webhook_queue_1: [100, 1, 1], webhook_queue_by_time: [100, 1, 1, 1] },
  webhook_presence: { sqlite_autoindex_webhook_presence_1: [100, 1, 1] },
  webhook_online: { sqlite_autoindex_webhook_online_1: [100_000, 10_000, 10_000, 1] },
  inbox: {
    sqlite_autoindex_inbox_1: [100_000, 1_000, 10, 1],
    inbox_of_key: [10_000, 100, 2, 1],
    inbox_expiry: [90_000, 1, 1, 1, 1],
    inbox_expiry_of_keys: [10_000, 1, 1, 1, 1],
  },
  addressee: {
    sqlite_autoindex_addressee_1: [100_000, 1_000, 10, 1],
    addressee_by_time: [100_000, 1, 1, 1, 1],
  },
  addressees: { sqlite_autoindex_addressees_1: [100, 1] },
  growth: {
    sqlite_autoindex_growth_1: [10_000, 1],
    growth_of_conversation: [10_000, 100, 2, 1, 1],
    growth_open: [100, 1, 1, 1],
  },
  message_reaction: {
    sqlite_autoindex_message_reaction_1: [100_000, 1_000, 10, 2, 1, 1],
    message_reaction_by_id: [100_000, 2, 1, 1],
    message_reaction_of_user: [100_000, 1_000, 10, 2, 1, 1],
  },
  hidden_message: {
    sqlite_autoindex_hidden_message_1: [100_000, 1_000, 10, 2, 1],
    hidden_message_by_id: [100_000, 2, 1],
    hidden_message_in_conversation: [100_000, 1_000, 10, 2, 1],
  },
  inbox_mark: { sqlite_autoindex_inbox_mark_1: [10_000, 100, 1] },
  removal: { sqlite_autoindex_removal_1: [10, 1, 1] },
  node: { sqlite_autoindex_node_1: [1, 1] },
  bus_secret: { sqlite_autoindex_bus_secret_1: [1, 1] },
  schema_step: { sqlite_autoindex_schema_step_1: [10, 2, 1] },
  api_key: {
    sqlite_autoindex_api_key_1: [100, 1],
    api_key_by_version: [100, 1],
    api_key_by_organization: [100, 1, 1],
    api_key_live: [100, 1, 1],
  },
  person_session: {
    sqlite_autoindex_person_session_1: [100, 1],
    person_session_by_digest: [100, 1],
    person_session_of_subject: [100, 2, 1],
    person_session_expiry: [100, 1, 1],
  },
  audit: {
    sqlite_autoindex_audit_1: [100_000, 1],
    audit_by_organization: [100_000, 1_000, 1],
    audit_by_key: [100_000, 1_000, 1],
  },
};

const rows = Object.entries(shares).flatMap(([table, indexes]) =>
  Object.entries(indexes).map(([index, counts]) => `('${table}', '${index}', '${counts.join(" ")}')`),
);

/**
 * Gives SQLite's planner statistics. Without ANALYZE, which reads whole tables, it has none and considers all indexes
 * equal: for a page of a conversation it would read the organization's whole log. The figures need not be exact; plans
 * depend on proportions, which are similar everywhere.
 */
export const statistics: readonly string[] = [
  "ANALYZE schema_version", // creates the table sqlite_stat1
  "DELETE FROM sqlite_stat1",
  `INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ${rows.join(", ")}`,
  "ANALYZE sqlite_schema", // loads it
];
