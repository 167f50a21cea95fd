/** The SQL of the bytes that an event counts for: those of its payload, and of the list of users that it is for. */
export const storedBytes = "OCTET_LENGTH(payload) + COALESCE(OCTET_LENGTH(uids), 0)";
