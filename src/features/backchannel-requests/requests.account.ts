/**
 * `/account/requests`: pending sign-in requests of applications (CIBA). Each request links to its server's page. With the code of a request, as in
 * the e-mail, the page opens that request.
 */
import { draw, ownPage, redirectAfterChange } from '../../pages/account/page.ts';
import { parameterOf } from '../../pages/hosted/carried-parameters.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { findApplication } from '../applications/application-lists.service.ts';
import { addressOfRequest, requestsWaitingFor } from './request-mails.service.ts';

/** GET /account/requests, with or without the code of a request */
export const requestsPage = ownPage('requests', async (deps, ctx, visit) => {
  const { database, config } = deps.services;
  const waiting = await requestsWaitingFor(database, visit.user.id);
  const code = parameterOf(ctx, 'code');
  if (code !== undefined) {
    const named = waiting.find((request) => request.code === code);
    return named === undefined
      ? redirectAfterChange(ctx, 'requests', 'request-gone')
      : seeOther(ctx, addressOfRequest(config.baseUrl, named));
  }
  const found = await Promise.all(waiting.map(({ clientId }) => findApplication(database, clientId)));
  const requests = waiting.flatMap((request, at) => {
    const application = found[at];
    if (application?.status !== 'ACTIVE') return [];
    const { message, requested, expires } = request;
    const href = addressOfRequest(config.baseUrl, request);
    return [{ label: application.label, message, requested: momentOf(requested), expires: momentOf(expires), href }];
  });
  await draw(deps, ctx, visit, 'account/requests', { page: 'requests' }, { requests });
});
