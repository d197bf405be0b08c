/** The news for an application that its user has answered (CIBA section 10.2), as it lies in the outbox: by which name, and how what is sent is sealed. */

/** `outbox.kind`, and `kind` of the note itself. */
export const BACKCHANNEL_PING = 'backchannel-ping';

/** @param id of the note, which is the key of the request's row */
export const pingContext = (id: string): string => `backchannel ping ${id}`;
