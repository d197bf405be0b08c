/**
 * The endpoints of receivers (Shared Signals Framework 1.0 section 8): a receiver manages its own streams with an access token that it got by the client credentials
 * grant of the built-in authorization server, with the scope ssf.manage, or ssf.read to read.
 */
import { bodyParser } from '@koa/bodyparser';
import type { Context, Middleware } from 'koa';
import type { z } from 'zod';
import { CALLS_PER_MINUTE } from '../../../config/defaults.ts';
import { callOrigin, networkOfCaller } from '../../api/authentication.ts';
import { rateLimit } from '../../api/rate-limit.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { forbidden, malformedBody, methodNotAllowed, notFound, validation } from '../../platform/errors/errors.ts';
import { parse } from '../../platform/validation/parsing.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { BUILT_IN, issuerOf } from '../authorization-servers/server-id.policy.ts';
import {
  addedSubject,
  changedStream,
  configurationOf,
  givenStream,
  POLL,
  PUSH,
  pollBody,
  receivedDelivery,
  removedSubject,
  SUPPLIED,
  streamQuery,
  streamStatusOf,
  verificationRequest,
  wantedStatus,
} from './receiver-fields.service.ts';
import type { SignSecurityEvent } from './signal-delivery.service.ts';
import { pollSignals } from './signal-poll.service.ts';
import type { StreamStatus } from './signal-streams.resource.ts';
import {
  createSignalStream,
  deleteSignalStream,
  getSignalStream,
  listSignalStreams,
  MOST_STREAMS,
  type StreamInput,
  setStreamStatus,
  updateSignalStream,
  verifySignalStream,
} from './signal-streams.service.ts';
import { addSignalSubject, removeSignalSubject, type SubjectChange } from './signal-subjects.service.ts';
import { SIGNAL_TYPES } from './signals.policy.ts';
import { challenged, respondWithSignalError, toApiError, unauthorized } from './transmitter-errors.api.ts';

const BASE = '/ssf/v1';
const WELL_KNOWN = '/.well-known/ssf-configuration';
/** KiB. */
const LARGEST_BODY = 64;

/** Client that presents an access token. */
interface SignalReceiver {
  readonly applicationId: string;
  readonly label: string;
  readonly scopes: ReadonlySet<string>;
  /** From the application's current settings. */
  readonly mayManage: boolean;
}

export interface TransmitterParts {
  readonly sign: SignSecurityEvent;
  /** @returns undefined: not an access token that an application got for itself */
  findReceiver(authorization: string): Promise<SignalReceiver | undefined>;
  /** @returns the ID of the user with this `sub` at the application; undefined if there is none */
  findUser(applicationId: string, sub: string): Promise<string | undefined>;
  /** Is the process about to end? */
  isEnding(): boolean;
}

interface Call {
  readonly ctx: Context;
  readonly services: Services;
  readonly parts: TransmitterParts;
  readonly applicationId: string;
  readonly request: RequestContext;
}

type Handler = (call: Call) => Promise<unknown>;

const readJson = bodyParser({
  enableTypes: ['json'],
  jsonLimit: `${LARGEST_BODY}kb`,
  onError: () => {
    throw malformedBody(`it must be a JSON object of at most ${LARGEST_BODY} KiB`);
  },
});

/** @returns a middleware for everything under /ssf/v1 and for the transmitter's configuration; other requests go to the next one */
export function signalTransmitter(services: Services, parts: TransmitterParts): Middleware {
  const limit = rateLimit(services, CALLS_PER_MINUTE);
  const issuer = issuerOf(services.config.baseUrl, BUILT_IN);
  // SSF 1.0 section 7.2: the well-known segment precedes the issuer's path.
  const documents = new Set([WELL_KNOWN, WELL_KNOWN + new URL(issuer).pathname]);
  return async (ctx, next) => {
    if (documents.has(ctx.path)) return answerConfiguration(ctx, services);
    if (!ctx.path.startsWith(`${BASE}/`)) return next();
    ctx.set('Cache-Control', 'no-store');
    try {
      const receiver = await parts.findReceiver(ctx.get('Authorization'));
      await limit.count(ctx, receiver?.applicationId ?? networkOfCaller(ctx, services));
      await route(ctx, services, parts, receiver);
    } catch (error) {
      respondWithSignalError(ctx, toApiError(services, ctx, error));
    }
  };
}

/** SSF 1.0 section 7.1. */
function answerConfiguration(ctx: Context, { config }: Services): void {
  const issuer = issuerOf(config.baseUrl, BUILT_IN);
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
    respondWithSignalError(ctx, methodNotAllowed(['GET', 'HEAD']));
    return;
  }
  ctx.body = {
    spec_version: '1_0',
    issuer,
    jwks_uri: `${issuer}/keys`,
    delivery_methods_supported: [PUSH, POLL],
    configuration_endpoint: `${config.baseUrl}${BASE}/stream`,
    status_endpoint: `${config.baseUrl}${BASE}/status`,
    add_subject_endpoint: `${config.baseUrl}${BASE}/subjects/add`,
    remove_subject_endpoint: `${config.baseUrl}${BASE}/subjects/remove`,
    verification_endpoint: `${config.baseUrl}${BASE}/verify`,
    authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
    default_subjects: 'ALL',
  };
}

async function route(ctx: Context, services: Services, parts: TransmitterParts, receiver: SignalReceiver | undefined): Promise<void> {
  const handlers = ENDPOINTS[ctx.path.startsWith(`${BASE}/poll/`) ? '/poll/' : ctx.path.slice(BASE.length)];
  if (handlers === undefined) throw notFound(ctx.path, 'Resource');
  const handler = handlers[ctx.method];
  if (handler === undefined) throw methodNotAllowed(Object.keys(handlers));
  if (receiver === undefined) throw unauthorized(ctx);
  const reads = ctx.method === 'GET' || handlers === ENDPOINTS['/poll/'];
  if (!receiver.scopes.has('ssf.manage') && !(reads && receiver.scopes.has('ssf.read')))
    throw challenged(403, 'insufficient_scope', `the access token needs the scope ${reads ? 'ssf.read or ssf.manage' : 'ssf.manage'}`);
  if (!receiver.mayManage) throw forbidden();
  if (ctx.method !== 'GET' && ctx.method !== 'DELETE') await readBody(ctx);
  const { applicationId, label } = receiver;
  const request: RequestContext = {
    actor: { id: applicationId, type: 'PublicClientApp', displayName: label },
    ...callOrigin(ctx, services),
  };
  const body = await handler({ ctx, services, parts, applicationId, request });
  if (body === undefined) ctx.status = 204;
  else ctx.body = body;
}

async function readBody(ctx: Context): Promise<void> {
  // RFC 8936 polls with JSON; SSF 1.0 shows requests without a content type.
  if (ctx.get('Content-Type') === '') ctx.req.headers['content-type'] = 'application/json';
  if (!ctx.is('application/json')) throw malformedBody('the Content-Type must be application/json');
  await readJson(ctx, async () => {});
}

const bodyOf = <S extends z.ZodType>(ctx: Context, schema: S): z.output<S> => parse(schema, ctx.request.body ?? {});

const create: Handler = async ({ ctx, services, applicationId, request }) => {
  const { description, events_requested, delivery } = bodyOf(ctx, givenStream);
  const input = { description: description ?? '', eventsRequested: events_requested ?? SIGNAL_TYPES, delivery: receivedDelivery(delivery) };
  const stream = await createSignalStream(services, applicationId, input, request);
  ctx.status = 201;
  return configurationOf(services, stream);
};

const read: Handler = async ({ ctx, services, applicationId }) => {
  if (ctx.query.stream_id !== undefined) {
    const { stream_id } = parse(streamQuery, ctx.query);
    return configurationOf(services, await getSignalStream(services, stream_id, applicationId));
  }
  const { items } = await listSignalStreams(services, { limit: MOST_STREAMS }, applicationId);
  return items.map((stream) => configurationOf(services, stream));
};

/** @param replaces missing values are as in a new stream (PUT) instead of unchanged (PATCH) */
const change =
  (replaces: boolean): Handler =>
  async ({ ctx, services, applicationId, request }) => {
    const body = bodyOf(ctx, changedStream);
    const { stream_id, description, events_requested, delivery } = body;
    const before = await getSignalStream(services, stream_id, applicationId);
    const configuration: Record<string, unknown> = configurationOf(services, before);
    const wrong = SUPPLIED.filter(
      (name) => name in body && JSON.stringify(body[name as keyof typeof body]) !== JSON.stringify(configuration[name]),
    );
    if (wrong.length > 0) throw validation(wrong.map((field) => ({ field, message: 'is not what the transmitter says' })));
    const kept: StreamInput['delivery'] =
      before.method === 'PUSH' ? { method: 'PUSH', endpointUrl: before.endpointUrl ?? '' } : { method: 'POLL' };
    const input = {
      description: description ?? (replaces ? '' : before.description),
      eventsRequested: events_requested ?? (replaces ? SIGNAL_TYPES : before.eventsRequested),
      delivery: delivery === undefined && !replaces ? kept : receivedDelivery(delivery),
    };
    return configurationOf(services, await updateSignalStream(services, stream_id, input, request, applicationId));
  };

const remove: Handler = async ({ ctx, services, applicationId, request }) => {
  const { stream_id } = parse(streamQuery, ctx.query);
  await deleteSignalStream(services, stream_id, request, applicationId);
  return undefined;
};

const readStatus: Handler = async ({ ctx, services, applicationId }) => {
  const { stream_id } = parse(streamQuery, ctx.query);
  return streamStatusOf(await getSignalStream(services, stream_id, applicationId));
};

const setStatus: Handler = async ({ ctx, services, applicationId, request }) => {
  const { stream_id, status, reason = null } = bodyOf(ctx, wantedStatus);
  const wanted = { status: status.toUpperCase() as StreamStatus, reason, notify: false };
  return streamStatusOf(await setStreamStatus(services, stream_id, wanted, request, applicationId));
};

const verify: Handler = async ({ ctx, services, applicationId, request }) => {
  const { stream_id, state } = bodyOf(ctx, verificationRequest);
  await verifySignalStream(services, stream_id, state, request, applicationId);
  return undefined;
};

/** The stream is checked first, so that other callers learn nothing about users. */
async function subjectChange({ services, parts, applicationId }: Call, body: z.output<typeof removedSubject>): Promise<SubjectChange> {
  const { stream_id, subject } = body;
  const { id } = await getSignalStream(services, stream_id, applicationId);
  const issuer = issuerOf(services.config.baseUrl, BUILT_IN);
  if (subject.iss !== issuer) throw validation([{ field: 'subject.iss', message: `must be ${issuer}` }]);
  return { streamId: id, applicationId, userId: await parts.findUser(applicationId, subject.sub) };
}

const addSubject: Handler = async (call) => {
  await addSignalSubject(call.services, await subjectChange(call, bodyOf(call.ctx, addedSubject)), call.request);
  return '';
};

const removeSubject: Handler = async (call) => {
  await removeSignalSubject(call.services, await subjectChange(call, bodyOf(call.ctx, removedSubject)), call.request);
  return undefined;
};

function polledId(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw notFound(segment, 'SignalStream');
  }
}

const poll: Handler = async ({ ctx, services, parts, applicationId, request }) => {
  const stream = await getSignalStream(services, polledId(ctx.path.slice(`${BASE}/poll/`.length)), applicationId);
  if (stream.method !== 'POLL') throw validation([{ field: 'stream_id', message: 'is a stream that is pushed' }]);
  const isOver = () => parts.isEnding() || ctx.req.socket.destroyed;
  const { sets, moreAvailable } = await pollSignals(services, stream, bodyOf(ctx, pollBody), { sign: parts.sign, isOver, request });
  return { sets, ...(moreAvailable && { moreAvailable }) };
};

const ENDPOINTS: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
  '/stream': { POST: create, GET: read, PATCH: change(false), PUT: change(true), DELETE: remove },
  '/status': { GET: readStatus, POST: setStatus },
  '/verify': { POST: verify },
  '/subjects/add': { POST: addSubject },
  '/subjects/remove': { POST: removeSubject },
  '/poll/': { POST: poll },
};
