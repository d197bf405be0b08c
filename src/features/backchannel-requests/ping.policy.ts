/** Outbox entry of the notification that a user has answered (CIBA section 10.2): its kind, and how its payload is sealed. */

/** `outbox.kind`, and `kind` of the note itself. */
export const BACKCHANNEL_PING = 'backchannel-ping';

/** @param id of the note, which is the key of the request's row */
export const pingContext = (id: string): string => `backchannel ping ${id}`;
