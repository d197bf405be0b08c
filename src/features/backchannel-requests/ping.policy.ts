/** Outbox entry that notifies a client of the user's decision (CIBA section 10.2): its kind, and how its payload is sealed. */

/** `outbox.kind`, and `kind` of the payload. */
export const BACKCHANNEL_PING = 'backchannel-ping';

/** @param id of the entry: the ID of the request's row */
export const pingContext = (id: string): string => `backchannel ping ${id}`;
