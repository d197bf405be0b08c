/** A real mail server of a test's own, and what came in, read as a mail program reads it (RFC 5322, RFC 2045 to 2047). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { afterwards } from './afterwards.ts';
import { eventually } from './process.ts';

interface ReceivedMail {
  /** Of the envelope. */
  readonly to: string;
  readonly from: string;
  /** Lower case, unfolded and decoded. */
  readonly headers: ReadonlyMap<string, string>;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** As it came. */
  readonly raw: string;
  /** The first link of the text. */
  readonly link: string;
}

export interface MailServer {
  /** What the service is started with. */
  readonly env: Readonly<Record<string, string>>;
  readonly mails: readonly ReceivedMail[];
  /** Waits for a mail to an address. @param number which of them, 1 the first */
  mail(address: string, number?: number, having?: string): Promise<ReceivedMail>;
}

/** @param answer what the server says to a recipient: a refusal with its code, or nothing; told how often it was asked */
export async function startMailServer(
  t: TestContext,
  answer: (address: string, asked: number) => number | undefined = () => undefined,
): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const asked = new Map<string, number>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo({ address }, _session, callback) {
      const times = (asked.get(address) ?? 0) + 1;
      asked.set(address, times);
      const code = answer(address, times);
      callback(code === undefined ? null : Object.assign(new Error('not this one'), { responseCode: code }));
    },
    onData(stream, { envelope }, callback) {
      void text(stream).then((raw) => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        mails.push(read(raw, { from, to: envelope.rcptTo.map(({ address }) => address).join() }));
        callback();
      });
    },
  });
  // A connection that the service drops is no failure of the test.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  afterwards(t, () => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = listening.address();
  assert(address !== null && typeof address === 'object');
  const to = (wanted: string, having: string) => mails.filter((mail) => mail.to === wanted && mail.text.includes(having));
  return {
    env: { SMTP_URL: `smtp://127.0.0.1:${address.port}`, MAIL_FROM: 'id@gatehouse.example' },
    mails,
    async mail(wanted, number = 1, having = '') {
      await eventually(() => to(wanted, having).length >= number, `mail ${number} to ${wanted} comes`);
      const mail = to(wanted, having)[number - 1];
      assert(mail !== undefined);
      return mail;
    },
  };
}

function split(part: string): { headers: Map<string, string>; body: string } {
  const end = part.indexOf('\r\n\r\n');
  const lines = part
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), words(line.slice(line.indexOf(':') + 1).trim())]),
  );
  assert.equal(headers.size, lines.length, `a header twice: ${lines.join(' | ')}`);
  return { headers, body: part.slice(end + 4) };
}

/** RFC 2047. */
const words = (value: string): string =>
  value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?(.*?)\?=/gi, (_, form: string, coded: string) =>
      form.toLowerCase() === 'b' ? Buffer.from(coded, 'base64').toString() : quoted(coded.replaceAll('_', ' ')),
    );

const quoted = (coded: string): string =>
  Buffer.from(
    coded.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();

function decoded({ headers, body }: { headers: Map<string, string>; body: string }): string {
  const form = headers.get('content-transfer-encoding');
  if (form === 'base64') return Buffer.from(body, 'base64').toString();
  return form === 'quoted-printable' ? quoted(body) : body;
}

function read(raw: string, envelope: { readonly from: string; readonly to: string }): ReceivedMail {
  const { headers, body } = split(raw);
  const boundary = /^multipart\/alternative;.*boundary="([^"]+)"/.exec(headers.get('content-type') ?? '')?.[1];
  assert(boundary !== undefined, headers.get('content-type'));
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => split(part.replace(/^\r\n/, '')));
  const types = parts.map((part) => part.headers.get('content-type')?.split(';')[0]);
  // RFC 2046 section 5.1.4: the plainest first.
  assert.deepEqual(types, ['text/plain', 'text/html']);
  const [plain = '', html = ''] = parts.map((part) => decoded(part).replaceAll('\r\n', '\n'));
  return {
    ...envelope,
    headers,
    subject: headers.get('subject') ?? '',
    text: plain,
    html,
    raw,
    link: /https?:\/\/\S+/.exec(plain)?.[0] ?? '',
  };
}
