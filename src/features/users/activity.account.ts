/** `/account/activity`: recent activity of the account in words. Actions of others are shown without their names. */

import { draw, ownPage } from '../../pages/account/page.ts';
import { parameterOf } from '../../pages/hosted/carried-parameters.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { browserName } from '../sessions/browser-name.policy.ts';
import { listOwnActivity } from './own-activity.service.ts';

const EVENTS_A_PAGE = 30;
const PLACE = /^[0-9]{1,18}$/;

/** GET /account/activity */
export const activityPage = ownPage('activity', async (deps, ctx, visit) => {
  const { text } = pageLanguage(ctx);
  const before = parameterOf(ctx, 'before');
  const window = { limit: EVENTS_A_PAGE, ...(before !== undefined && PLACE.test(before) && { before }) };
  const { events, next } = await listOwnActivity(deps.services, visit.user.id, window);
  await draw(
    deps,
    ctx,
    visit,
    'account/activity',
    { page: 'activity' },
    {
      events: events.map(({ eventType, published, failed, byOther, userAgent, ipAddress, application }) => ({
        what: text(`account.event.${eventType}`),
        failed: failed && eventType !== 'user.authentication.failure',
        at: momentOf(published),
        where: [browserName(userAgent ?? ''), ipAddress].filter((part) => part !== undefined && part !== '').join(', '),
        byOther,
        application,
      })),
      older: next === undefined ? undefined : `?${new URLSearchParams({ before: next })}`,
    },
  );
});
