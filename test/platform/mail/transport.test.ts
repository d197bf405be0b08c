/** A mail server that does not do as it should (RFC 5321 section 4.5.3.2): nobody waits for it for ever, nothing is sent twice, no password goes to it in clear. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { SMTPServer } from 'smtp-server';
import { warnOfSilentServer } from '../../../src/features/mail/mail-delivery.service.ts';
import type { Config } from '../../../src/platform/config/config.ts';
import type { Services } from '../../../src/platform/database/dependencies.ts';
import { MailRefused, type Message, smtpMailer } from '../../../src/platform/mail/transport.ts';
import { afterwards } from '../../support/afterwards.ts';
import { eventually } from '../../support/process.ts';

const FROM = 'id@gatehouse.example';
const MESSAGE: Message = {
  to: 'ada@example.com',
  subject: 'Subject',
  text: 'text',
  html: '<p>text</p>',
  messageId: 'one@gatehouse.example',
  senderName: 'Gatehouse',
  language: 'en',
};
/** Of which none is reached where another one is to end the wait. */
const PATIENT = { connection: 30_000, silence: 30_000, mail: 60_000 };

/** A server of the test's own. @param converse what it does with a connection */
async function serve(t: TestContext, converse: (socket: Socket) => void): Promise<{ port: number; open: Set<Socket> }> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).once('close', () => open.delete(socket));
    // Read, or its end is not noticed.
    socket.resume();
    converse(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(t, async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  return { port: address.port, open };
}

/** Speaks as much of SMTP as a mail takes. @param answers to each command, in place of the usual one; null: none, and the connection ends */
function talk(socket: Socket, heard: string[], answers: Readonly<Record<string, string | null>> = {}): void {
  let inData = false;
  let rest = '';
  const say = (command: string, usual: string) => {
    const answer = command in answers ? answers[command] : usual;
    if (answer === null || answer === undefined) socket.destroy();
    else socket.write(`${answer}\r\n`);
  };
  say('GREETING', '220 here');
  socket.on('data', (data) => {
    const lines = (rest + data.toString()).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (inData && line !== '.') continue;
      const command = inData ? 'END' : (line.split(/[ :]/)[0] ?? '').toUpperCase();
      heard.push(command === 'AUTH' ? line : command);
      inData = command === 'DATA' && !('DATA' in answers);
      say(command, command === 'DATA' ? '354 go on' : '250 fine');
    }
  });
}

test('one that says nothing is given up, for the greeting and for each answer, and the connection with it', async (t) => {
  for (const [patience, converse] of [
    [{ ...PATIENT, connection: 100 }, () => undefined],
    [{ ...PATIENT, silence: 100 }, (socket: Socket) => void socket.write('220 here\r\n')],
  ] as const) {
    const { port, open } = await serve(t, converse);
    const mailer = smtpMailer({ url: `smtp://127.0.0.1:${port}`, from: FROM }, patience);
    afterwards(t, () => mailer.close());
    await assert.rejects(mailer.send(MESSAGE), (error) => !(error instanceof MailRefused));
    await eventually(() => open.size === 0, 'it is closed');
  }
});

test('one that answers byte by byte is given up, takes the place of no other mail, and does not get this one after all', async (t) => {
  const heard: string[] = [];
  let isSlow = true;
  const { port, open } = await serve(t, (socket) => {
    if (!isSlow) return talk(socket, heard);
    socket.write('220 here\r\n');
    const drip = setInterval(() => socket.write('2'), 20);
    socket.once('close', () => clearInterval(drip));
  });
  const mailer = smtpMailer({ url: `smtp://127.0.0.1:${port}`, from: FROM }, { ...PATIENT, mail: 300 });
  afterwards(t, () => mailer.close());
  const lost = await Promise.allSettled(Array.from({ length: 7 }, () => mailer.send(MESSAGE)));
  assert.deepEqual(new Set(lost.map(({ status }) => status)), new Set(['rejected']));
  await eventually(() => open.size === 0, 'all are closed');
  isSlow = false;
  const patient = smtpMailer({ url: `smtp://127.0.0.1:${port}`, from: FROM });
  afterwards(t, () => patient.close());
  await patient.send(MESSAGE);
  await mailer.send(MESSAGE).catch(() => undefined);
  assert.ok(heard.filter((command) => command === 'END').length <= 2, heard.join());
});

test('one that closes half-way is asked once an attempt: whether it took the mail is not known', async (t) => {
  for (const [command, most] of [
    ['GREETING', 0],
    ['RCPT', 0],
    ['DATA', 0],
    ['END', 1],
  ] as const) {
    const heard: string[] = [];
    let connections = 0;
    const { port } = await serve(t, (socket) => {
      connections += 1;
      talk(socket, heard, { [command]: null });
    });
    const mailer = smtpMailer({ url: `smtp://127.0.0.1:${port}`, from: FROM });
    afterwards(t, () => mailer.close());
    await assert.rejects(mailer.send(MESSAGE), (error) => !(error instanceof MailRefused), command);
    assert.equal(connections, 1, command);
    assert.equal(heard.filter((each) => each === 'END').length, most, command);
  }
});

test('a refusal of the sender or of the login is the operator’s to mend, one of the mail itself is final', async (t) => {
  for (const [command, answer, isFinal] of [
    ['MAIL', '550 not you', false],
    ['RCPT', '550 nobody', true],
    ['RCPT', '451 come again', false],
    ['DATA', '554 not this', true],
    ['END', '554 not this', true],
    ['END', '452 no room', false],
    ['EHLO', '421 going away', false],
  ] as const) {
    const { port } = await serve(t, (socket) => talk(socket, [], { [command]: answer }));
    const mailer = smtpMailer({ url: `smtp://127.0.0.1:${port}`, from: FROM });
    afterwards(t, () => mailer.close());
    await assert.rejects(mailer.send(MESSAGE), (error) => error instanceof MailRefused === isFinal, `${command} ${answer}`);
  }
});

test('a password goes to a server elsewhere by TLS alone (RFC 8314 section 3), and a certificate of nobody’s is none', async (t) => {
  const heard: string[] = [];
  const { port } = await serve(t, (socket) => talk(socket, heard, { EHLO: '250-here\r\n250 AUTH PLAIN LOGIN', AUTH: '235 welcome' }));
  // An address of this machine that does not say so.
  const elsewhere = smtpMailer({ url: `smtp://user:secret@0.0.0.0:${port}`, from: FROM }, { ...PATIENT, connection: 1000 });
  afterwards(t, () => elsewhere.close());
  await assert.rejects(elsewhere.send(MESSAGE));
  assert.ok(!heard.some((command) => command.startsWith('AUTH')), heard.join());
  for (const url of [`smtp://user:secret@127.0.0.1:${port}`, `smtp://user:secret@0.0.0.0:${port}?requireTLS=false`]) {
    const mailer = smtpMailer({ url: url, from: FROM });
    afterwards(t, () => mailer.close());
    await mailer.send(MESSAGE);
  }
  assert.equal(heard.filter((command) => command.startsWith('AUTH')).length, 2);

  // Its certificate is the library's own.
  let taken = 0;
  const server = new SMTPServer({
    authOptional: true,
    onData(stream, _session, done) {
      taken += 1;
      stream.resume().once('end', () => done());
    },
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  afterwards(t, () => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = listening.address();
  assert(address !== null && typeof address === 'object');
  const mailer = smtpMailer({ url: `smtp://127.0.0.1:${address.port}`, from: FROM });
  afterwards(t, () => mailer.close());
  await assert.rejects(mailer.send(MESSAGE), /certificate/);
  assert.equal(taken, 0);
});

test('what stops while a server hangs lets go of it', async (t) => {
  const { port, open } = await serve(t, (socket) => void socket.write('220 here\r\n'));
  const mailer = smtpMailer({ url: `smtp://127.0.0.1:${port}`, from: FROM }, { connection: 600_000, silence: 600_000, mail: 600_000 });
  const sending = assert.rejects(mailer.send(MESSAGE));
  await eventually(() => open.size === 1, 'it is under way');
  mailer.close();
  await sending;
  await eventually(() => open.size === 0, 'it is closed');
});

test('at the start it is told when the server cannot be used, and never its password', async (t) => {
  const heard: string[] = [];
  const { port } = await serve(t, (socket) => talk(socket, heard, { EHLO: '250-here\r\n250 AUTH PLAIN LOGIN', AUTH: '535 wrong' }));
  for (const [url, wanted] of [
    ['smtp://user:my-secret@127.0.0.1:9', /ECONNREFUSED.*"server":"127\.0\.0\.1:9"/],
    [`smtp://user:my-secret@127.0.0.1:${port}`, /535 wrong/],
    [`smtps://user:my-secret@127.0.0.1:${port}`, /"level":40.*is not available/],
  ] as const) {
    let log = '';
    const written = new Writable({
      write(chunk, _encoding, done) {
        log += chunk;
        done();
      },
    });
    const mailer = smtpMailer({ url: url, from: FROM }, { connection: 1000, silence: 1000, mail: 3000 });
    const config = { smtpUrl: url, mailFrom: FROM } as Config;
    await warnOfSilentServer({ config, log: pino(written) } as unknown as Services, {
      now: async () => mailer,
      close: () => mailer.close(),
    });
    mailer.close();
    assert.match(log, wanted);
    assert.ok(!log.includes('my-secret') && !log.includes(Buffer.from('my-secret').toString('base64')), log);
  }
});
