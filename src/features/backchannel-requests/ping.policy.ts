/** What an application is notified of when its user has answered (CIBA section 10.2), as it lies in the outbox. */
import { z } from 'zod';

/** `outbox.kind`, and `kind` of the note itself. */
export const BACKCHANNEL_PING = 'backchannel-ping';

/** @param id of the note, which is the key of the request's row */
export const pingContext = (id: string): string => `backchannel ping ${id}`;

export const pingNote = z.object({
  id: z.string(),
  kind: z.literal(BACKCHANNEL_PING),
  clientId: z.string(),
  /** `auth_req_id` and the application's token. */
  sealed: z.string(),
  /** Epoch seconds: when the request expires. */
  until: z.number(),
});
